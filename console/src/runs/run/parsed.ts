/** Typed JSON: its value, or that it is none. */
export type Parsed = { ok: true; value: unknown } | { ok: false; problem: string }

export function parsed(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as unknown }
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) }
  }
}

/** Whether JSON.parse would change a number of the text: it keeps about 15 digits. */
export function roundsNumbers(text: string): boolean {
  const outside = text.replace(/"(?:[^"\\]|\\.)*"/g, '""')
  return (outside.match(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g) ?? []).some(
    (number) => digitsOf(number) !== digitsOf(String(Number(number))),
  )
}

/** The digits that count, and their place: `1.50` and `15e-1` are alike. */
function digitsOf(number: string): string {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = `${whole}${fraction}`.replace('-', '')
  const trailing = digits.length - digits.replace(/0+$/, '').length
  const significant = digits.replace(/^0+/, '').replace(/0+$/, '')
  if (significant === '') return '0'
  return `${mantissa.startsWith('-') ? '-' : ''}${significant}e${Number(exponent) - fraction.length + trailing}`
}
