/** Short messages at the edge of the screen. Only for what the page itself does not show. */
import { notifications } from '@mantine/notifications'
import i18next from 'i18next'

import { problemText } from './problem_text'

export function notifyDone(message: string): void {
  notifications.show({ message, color: 'teal', autoClose: 4000 })
}

/** Says why an action failed. It stays until it is closed. */
export function notifyProblem(error: unknown): void {
  const { title, detail } = problemText(error, i18next.t)
  notifications.show({ title, message: detail, color: 'red', autoClose: false })
}
