/** Text of documents and people: shown as text, with characters made visible that could make it look like another. */

// Control characters, and those that change the direction of what follows or have no width.
// oxlint-disable-next-line no-control-regex
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

/** The text with hidden characters as `⟨U+202E⟩`. Tabs and line breaks become spaces. */
export function visible(text: string): string {
  return text.replace(/[\t\r\n]+/g, ' ').replace(HIDDEN, (found) => `⟨U+${code(found)}⟩`)
}

/** The text with hidden characters made visible; its lines stay lines. */
export function visibleLines(text: string): string {
  return text
    .split(/\r\n?|\n/)
    .map(visible)
    .join('\n')
}

/** The beginning of a long text, for lists. */
export function shortened(text: string, most = 120): string {
  const shown = [...text.slice(0, (most + 1) * 2)]
  return shown.length > most ? `${shown.slice(0, most - 1).join('')}…` : text
}

function code(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
}
