import { expect, test } from 'vitest'

import { guard } from './seen'

const press = (type: string, code: string) => dispatchEvent(new KeyboardEvent(type, { code }))

test('nothing is decided that was not painted', () => {
  const eyes = guard()
  expect(eyes.mayDecide()).toBe(false)
  eyes.painted()
  expect(eyes.mayDecide()).toBe(true)
  eyes.end()
})

test('a key that was held since the document before decides nothing until it is released', () => {
  press('keydown', 'Enter')
  const eyes = guard()
  eyes.painted()
  press('keydown', 'Enter')
  expect(eyes.mayDecide()).toBe(false)
  press('keyup', 'ControlLeft')
  expect(eyes.mayDecide()).toBe(false)
  press('keyup', 'Enter')
  expect(eyes.mayDecide()).toBe(true)
  eyes.end()
})
