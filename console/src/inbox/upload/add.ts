/** Adds files to the uploads: archives are unpacked first, and what cannot be taken is said. */
import i18next from 'i18next'

import { notifyProblem } from '@/kit/notify'

import { unpacked } from './files'
import { send } from './queue'

export async function add(files: readonly File[]): Promise<void> {
  const found = await unpacked(files)
  for (const { name, why } of found.refused) {
    notifyProblem(new Error(i18next.t(`inbox.upload.${why}`, { name })))
  }
  send(found.files)
}

/** Opens the browser's dialog for files, or for a folder. `onChosen` is called when some are on their way. */
export function choose({ folder = false, onChosen }: { folder?: boolean; onChosen?: () => void } = {}): void {
  const input = document.createElement('input')
  input.type = 'file'
  input.multiple = true
  input.webkitdirectory = folder
  input.addEventListener('change', () => {
    void add([...(input.files ?? [])])
    onChosen?.()
  })
  input.click()
}
