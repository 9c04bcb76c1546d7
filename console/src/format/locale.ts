/** How numbers, dates and money are written: as the browser's person is used to, whatever the language of the texts. */

export const locale: string = usable([...navigator.languages, navigator.language, 'en'])

/** The first that is a language tag: a browser on a system without a locale names `en-US@posix`. */
export function usable(wanted: readonly string[]): string {
  return wanted.find(isLanguageTag) ?? 'en'
}

function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0
  } catch {
    return false
  }
}
