/** The parts of the operations page, in their order, and who may see each: the server refuses everyone else. */
import {
  IconBolt,
  IconBuildingCommunity,
  IconCalendarClock,
  IconCoins,
  IconGauge,
  IconHistory,
  IconKey,
  IconScale,
  IconServer,
  IconUserCheck,
  type Icon,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'

import type { Model } from '@/api/client'
import type { Scope } from '@/api/me'

import { AuditPart } from './AuditPart'
import { FleetPart } from './FleetPart'
import { KeysPart } from './KeysPart'
import { LimitsPart } from './LimitsPart'
import { QuotasPart } from './QuotasPart'
import { SchedulesPart } from './SchedulesPart'
import { SessionsPart } from './SessionsPart'
import { TenantsPart } from './TenantsPart'
import { TriggersPart } from './TriggersPart'
import { UsagePart } from './UsagePart'

export type PartName =
  | 'fleet'
  | 'limits'
  | 'triggers'
  | 'schedules'
  | 'usage'
  | 'quotas'
  | 'keys'
  | 'sessions'
  | 'tenants'
  | 'audit'

export type Part = {
  name: PartName
  icon: Icon
  scope: Scope
  /** Only for the operators' tenant. */
  isShared?: boolean
  component: ComponentType
}

const PARTS: readonly Part[] = [
  { name: 'fleet', icon: IconServer, scope: 'operate', isShared: true, component: FleetPart },
  { name: 'limits', icon: IconGauge, scope: 'read', component: LimitsPart },
  { name: 'triggers', icon: IconBolt, scope: 'read', component: TriggersPart },
  { name: 'schedules', icon: IconCalendarClock, scope: 'operate', isShared: true, component: SchedulesPart },
  { name: 'usage', icon: IconCoins, scope: 'read', component: UsagePart },
  { name: 'quotas', icon: IconScale, scope: 'read', component: QuotasPart },
  { name: 'keys', icon: IconKey, scope: 'admin', component: KeysPart },
  { name: 'sessions', icon: IconUserCheck, scope: 'admin', component: SessionsPart },
  { name: 'tenants', icon: IconBuildingCommunity, scope: 'admin', isShared: true, component: TenantsPart },
  { name: 'audit', icon: IconHistory, scope: 'operate', component: AuditPart },
]

/** The parts that this person may see. */
export function partsFor(me: Model<'Me'> | undefined): Part[] {
  if (!me) return []
  return PARTS.filter((part) => me.scopes.includes(part.scope) && (me.operator || !part.isShared))
}
