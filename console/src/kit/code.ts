/** How all code editors look, and what each of them needs. Plain CodeMirror; in the chunks of the editors only. */
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import i18next from 'i18next'

/** Mantine's own text in a colour is too pale on the active line. */
function readable(colour: string): string {
  return `color-mix(in srgb, var(--mantine-color-${colour}-text) 55%, var(--mantine-color-text))`
}

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--mantine-color-ink-text, var(--mantine-color-anchor))' },
  { tag: tags.string, color: readable('teal') },
  { tag: [tags.number, tags.bool, tags.null], color: readable('orange') },
  { tag: tags.comment, color: 'var(--mantine-color-dimmed)', fontStyle: 'italic' },
])

const look = EditorView.theme({
  '&': { fontSize: '12.5px', border: '1px solid var(--line)', borderRadius: '6px', overflow: 'hidden', height: '100%' },
  '&.cm-focused': { outline: '2px solid var(--mantine-primary-color-filled)', outlineOffset: '-1px' },
  '.cm-content': { fontFamily: 'var(--mantine-font-family-monospace)', caretColor: 'var(--mantine-color-text)' },
  '.cm-scroller': { overflow: 'auto', fontVariantLigatures: 'none' },
  '.cm-collapsedLines': { background: 'var(--surface-sunken)', color: 'var(--mantine-color-dimmed)' },
  '.cm-collapsedLines::before, .cm-collapsedLines::after': { content: '"…"' },
  '.cm-gutters': {
    background: 'var(--surface-sunken)',
    color: 'var(--mantine-color-dimmed)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine, .cm-activeLineGutter': { background: 'var(--surface-hover)' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '.cm-tooltip': {
    background: 'var(--mantine-color-body)',
    color: 'var(--mantine-color-text)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    boxShadow: 'var(--mantine-shadow-md)',
  },
})

/** Colours, fonts, the editor's own words, and the nonce that the policy asks of the editor's styles (ADR 38). */
export function codeLook(label: string): Extension {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''
  return [
    syntaxHighlighting(colours),
    look,
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    EditorView.cspNonce.of(nonce),
    EditorState.phrases.of({
      Completions: i18next.t('code.completions'),
      '$ unchanged lines': i18next.t('code.unchanged'),
      'Control character': i18next.t('code.control'),
    }),
  ]
}
