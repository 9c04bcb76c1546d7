/** Which documents a drop holds: files, those in folders, and those in zip archives, which the browser unpacks. */
import { unzipSync } from 'fflate'

const MOST_FILES = 2000
const MOST_UNPACKED_BYTES = 500_000_000
const HIDDEN = /(^|\/)(\.|__MACOSX\/|Thumbs\.db$|desktop\.ini$)/

export type Found = {
  files: File[]
  /** Archives that could not be unpacked, with the reason as a key of the texts. */
  refused: { name: string; why: Refusal }[]
}
export type Refusal = 'archiveBroken' | 'archiveTooLarge' | 'tooMany'

/** The files that an event of dragging brings. Folders are read completely. */
export async function droppedFiles(transfer: DataTransfer): Promise<File[]> {
  // All entries are taken before the first wait: afterwards the browser has emptied the list.
  const entries = [...transfer.items].map((item) => (item.kind === 'file' ? item.webkitGetAsEntry() : null))
  if (entries.every((entry) => entry === null)) return [...transfer.files]
  const found = await Promise.all(entries.map((entry) => (entry ? filesIn(entry) : [])))
  return found.flat()
}

async function filesIn(entry: FileSystemEntry): Promise<File[]> {
  if (entry.name.startsWith('.')) return []
  if (isFile(entry)) return [await new Promise<File>((resolve, reject) => entry.file(resolve, reject))]
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  const found: File[] = []
  for (;;) {
    // A reader returns its entries in parts, and none at the end.
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (part.length === 0) return found
    for (const each of part) found.push(...(await filesIn(each)))
  }
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile
}

/** The documents among the files, with archives unpacked. */
export async function unpacked(files: readonly File[]): Promise<Found> {
  const found: Found = { files: [], refused: [] }
  for (const file of files) {
    if (HIDDEN.test(file.name)) continue
    if (isArchive(file)) await unpackInto(found, file)
    else found.files.push(file)
  }
  if (found.files.length > MOST_FILES) {
    found.refused.push({ name: String(found.files.length - MOST_FILES), why: 'tooMany' })
    found.files.length = MOST_FILES
  }
  return found
}

export function isArchive(file: File): boolean {
  return /\.zip$/i.test(file.name) || file.type === 'application/zip'
}

async function unpackInto(found: Found, archive: File): Promise<void> {
  let bytes = 0
  let isTooLarge = false
  try {
    const entries = unzipSync(new Uint8Array(await archive.arrayBuffer()), {
      filter: ({ name, originalSize }) => {
        if (name.endsWith('/') || HIDDEN.test(name)) return false
        bytes += originalSize
        isTooLarge ||= bytes > MOST_UNPACKED_BYTES
        return !isTooLarge
      },
    })
    if (isTooLarge) found.refused.push({ name: archive.name, why: 'archiveTooLarge' })
    else found.files.push(...Object.entries(entries).map(([name, data]) => fileOf(name, data)))
  } catch {
    found.refused.push({ name: archive.name, why: 'archiveBroken' })
  }
}

function fileOf(path: string, data: Uint8Array<ArrayBuffer>): File {
  return new File([data], path.split('/').at(-1) ?? path)
}
