import { strToU8, zipSync } from 'fflate'
import { expect, test } from 'vitest'

import { unpacked } from './files'

function archive(entries: Record<string, string>): File {
  const bytes = Object.fromEntries(Object.entries(entries).map(([name, text]) => [name, strToU8(text)]))
  return new File([zipSync(bytes)], 'invoices.zip')
}

test('an archive is unpacked, without folders and files that systems hide in it', async () => {
  const zipped = archive({ 'march/a.pdf': 'A', 'march/': '', '__MACOSX/a.pdf': 'x', '.DS_Store': 'x', 'b.xml': 'B' })
  const { files, refused } = await unpacked([new File(['C'], 'c.pdf'), zipped, new File(['x'], '.hidden')])
  expect(files.map((file) => file.name)).toEqual(['c.pdf', 'a.pdf', 'b.xml'])
  expect(await files[1]?.text()).toBe('A')
  expect(refused).toEqual([])
})

test('an archive that cannot be opened is refused by its name, the others are taken', async () => {
  const { files, refused } = await unpacked([new File(['no zip'], 'broken.zip'), new File(['C'], 'c.pdf')])
  expect(files.map((file) => file.name)).toEqual(['c.pdf'])
  expect(refused).toEqual([{ name: 'broken.zip', why: 'archiveBroken' }])
})

test('of very many files the first are taken', async () => {
  const many = Array.from({ length: 2003 }, (_, number) => new File([''], `${number}.pdf`))
  const { files, refused } = await unpacked(many)
  expect(files.length).toBe(2000)
  expect(refused).toEqual([{ name: '3', why: 'tooMany' }])
})
