import { describe, expect, test } from 'vitest'

import { date, duration, recent, relative, time } from './dates'
import { firstKnown } from './locale'
import { bytes, decimal, money, percent } from './numbers'
import { shortened, visible, visibleLines } from './text'

/** Intl writes narrow and fixed spaces. */
const plain = (text: string) => text.replace(/[\u00a0\u202f]/g, ' ')

test('a locale that no one knows is passed over', () => {
  expect(firstKnown(['en-US@posix', 'de-AT', 'en'])).toBe('de-AT')
  expect(firstKnown(['', undefined])).toBe('en')
})

describe('money', () => {
  test('follows the locale', () => {
    expect(plain(money('4904.95', 'EUR', 'de-DE'))).toBe('4.904,95 €')
    expect(plain(money('4904.95', 'EUR', 'en-GB'))).toBe('€4,904.95')
  })
  test('keeps every digit of a decimal that no float holds', () => {
    expect(decimal('12345678901234567890.123', 'en-GB')).toBe('12,345,678,901,234,567,890.123')
    expect(money('0.1250', 'EUR', 'en-GB')).toBe('€0.1250')
  })
  test('follows the currency in the number of decimals', () => {
    expect(plain(money('1500', 'JPY', 'en-GB'))).toBe('JP¥1,500')
  })
  test('shows what is not a number, and no known currency, as it is', () => {
    expect(money('<b>', 'EUR', 'en-GB')).toBe('<b>')
    expect(money('1.50', '€', 'en-GB')).toBe('1.50')
  })
})

describe('dates', () => {
  test('have no zone', () => {
    expect(date('2014-04-12', 'de-DE')).toBe('12.04.2014')
    expect(date('2014-04-12', 'en-US')).toBe('04/12/2014')
    expect(date('0099-01-01', 'en-GB')).toBe('01/01/99')
  })
  test('that are none stay as they are', () => expect(date('next week', 'de-DE')).toBe('next week'))
  test('times show their zone', () => {
    expect(plain(time('2026-01-02T23:30:00Z', 'Asia/Kolkata', 'en-GB'))).toBe('03/01/2026, 05:00 GMT+5:30')
    expect(plain(time('2026-01-02T23:30:00Z', 'UTC', 'de-DE'))).toBe('02.01.26, 23:30 UTC')
  })
  test('the hour of another day has its date', () => {
    const at = (instant: string) => plain(recent('2026-01-02T23:30:00Z', Date.parse(instant), 'Asia/Kolkata', 'en-GB'))
    expect(at('2026-01-02T20:00:00Z')).toBe('05:00 GMT+5:30')
    expect(at('2026-01-02T12:00:00Z')).toBe('03/01/2026, 05:00 GMT+5:30')
  })
  test('relative times are in the language of the texts', () => {
    const now = Date.parse('2026-01-02T12:00:00Z')
    expect(relative('2026-01-02T11:55:00Z', now, 'de')).toBe('vor 5 Minuten')
    expect(relative('2026-01-03T12:00:00Z', now, 'en')).toBe('tomorrow')
  })
  test('durations have the unit that fits', () => {
    expect([0.34, 4.21, 185, 7800].map((each) => duration(each, 'en-GB'))).toEqual([
      '340 ms',
      '4.2 s',
      '3 min 5 s',
      '2 h 10 min',
    ])
  })
})

test('a share that is not quite one is not shown as 100 %', () => {
  expect([0.999, 1, 0.444].map((each) => plain(percent(each, 'en-GB')))).toEqual(['99%', '100%', '44%'])
})

test('sizes have the unit that fits', () => {
  expect([999, 25_000, 1_234_567].map((each) => plain(bytes(each, 'en-GB')))).toEqual(['999 byte', '25 kB', '1.23 MB'])
})

test('characters that hide or turn text are made visible', () => {
  expect(visible('invoice\u202efdp.exe')).toBe('invoice⟨U+202E⟩fdp.exe')
  expect(visible('two\r\nlines')).toBe('two lines')
})

test('lines stay lines where they may', () => {
  expect(visibleLines('one\r\ntwo\u202e\n\tthree')).toBe('one\ntwo⟨U+202E⟩\n three')
})

test('a long text is cut between characters', () => {
  expect(shortened('🧾'.repeat(200), 5)).toBe('🧾🧾🧾🧾…')
})
