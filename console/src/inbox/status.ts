/** How the statuses of documents look: icon, word and colour. */
import type { MantineColor } from '@mantine/core'
import {
  IconAlertTriangle,
  IconArchive,
  IconCheck,
  IconCircleCheck,
  IconClockPause,
  type Icon,
  IconEyeCheck,
  IconFileExport,
  IconLoader2,
  IconUserPlus,
  IconX,
} from '@tabler/icons-react'

import type { Status } from './search'

export const LOOKS: Record<Status, { icon: Icon; color: MantineColor }> = {
  attention: { icon: IconEyeCheck, color: 'ink' },
  reading: { icon: IconLoader2, color: 'gray' },
  failed: { icon: IconAlertTriangle, color: 'red' },
  second: { icon: IconUserPlus, color: 'grape' },
  postponed: { icon: IconClockPause, color: 'yellow' },
  approved: { icon: IconCheck, color: 'teal' },
  rejected: { icon: IconX, color: 'red' },
  exported: { icon: IconFileExport, color: 'teal' },
  completed: { icon: IconCircleCheck, color: 'teal' },
  dismissed: { icon: IconArchive, color: 'gray' },
}
