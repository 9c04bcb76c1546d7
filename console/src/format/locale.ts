/** How numbers, dates and money are written: as the browser's person is used to, whatever the language of the texts. */

export const locale: string = navigator.languages[0] ?? navigator.language ?? 'en'
