/** How numbers, dates and money are written: as the browser's person is used to, whatever the language of the texts. */

export const locale: string = firstKnown([...navigator.languages, navigator.language])

/** The first locale that `Intl` takes: a Chromium without a locale of its own says `en-US@posix`, which it does not. */
export function firstKnown(tags: readonly (string | undefined)[]): string {
  return tags.find((tag) => tag !== undefined && isKnown(tag)) ?? 'en'
}

function isKnown(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}
