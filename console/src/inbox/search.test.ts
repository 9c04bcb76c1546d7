import { describe, expect, test } from 'vitest'

import { filtersOf, queueOf, readSearch } from './search'

describe('the address of the inbox', () => {
  test('leaves out what is usual or unknown', () => {
    expect(readSearch({ status: 'attention', sort: 'newest', text: ' ' })).toEqual({})
    expect(readSearch({ status: 'nonsense', sort: 5, more: 1 })).toEqual({})
    expect(readSearch({ status: 'failed', text: ' coolblue ', sort: 'due' })).toEqual({
      status: 'failed',
      text: 'coolblue',
      sort: 'due',
    })
  })

  test('takes a number that a router has parsed as the text that was typed', () => {
    expect(readSearch({ text: 4711 })).toEqual({ text: '4711' })
  })

  test('becomes the filters of the API', () => {
    expect(filtersOf({})).toEqual({ status: 'attention', sort: 'newest' })
    expect(filtersOf({ status: 'all', text: 'a b' })).toEqual({ text: 'a b', sort: 'newest' })
  })

  test('becomes the queue of the review page', () => {
    expect(queueOf({})).toBe('status=attention&sort=newest')
    expect(queueOf({ status: 'second', text: 'a&b' })).toBe('status=second&text=a%26b&sort=newest')
  })
})
