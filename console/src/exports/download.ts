import { basePath } from '@/app/base'

/** The address of an export's file. The API sends it as an attachment. */
export function fileAddress(exportId: string): string {
  return `${basePath}/v1/exports/${encodeURIComponent(exportId)}/file`
}

/** Saves the file, as a click on its link does. */
export function saveFile(exportId: string, name: string): void {
  const link = document.createElement('a')
  link.href = fileAddress(exportId)
  link.download = name
  link.click()
}
