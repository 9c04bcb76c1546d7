/** The pages of the navigation, in its order. A page that the person's scopes do not open is not shown. */
import {
  IconFileExport,
  IconInbox,
  IconMessageQuestion,
  IconAlertTriangle,
  IconSchema,
  IconServerCog,
  IconStack2,
  IconTimeline,
  type Icon,
} from '@tabler/icons-react'

import type { Scope } from '@/api/me'

export type NavigationPage = {
  to: '/' | '/decide' | '/runs' | '/failures' | '/definitions' | '/operations' | '/exports' | '/batches'
  text: 'inbox' | 'decisions' | 'runs' | 'failures' | 'definitions' | 'operations' | 'exports' | 'batches'
  icon: Icon
  scope: Scope
}

export const PAGES: readonly NavigationPage[] = [
  { to: '/', text: 'inbox', icon: IconInbox, scope: 'read' },
  { to: '/decide', text: 'decisions', icon: IconMessageQuestion, scope: 'review' },
  { to: '/batches', text: 'batches', icon: IconStack2, scope: 'read' },
  { to: '/exports', text: 'exports', icon: IconFileExport, scope: 'read' },
  { to: '/runs', text: 'runs', icon: IconTimeline, scope: 'read' },
  { to: '/failures', text: 'failures', icon: IconAlertTriangle, scope: 'read' },
  { to: '/definitions', text: 'definitions', icon: IconSchema, scope: 'read' },
  { to: '/operations', text: 'operations', icon: IconServerCog, scope: 'operate' },
]
