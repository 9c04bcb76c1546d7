/** The tables of this page: headings, then rows; what is not yet known, and what could not be loaded. */
import { Table } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

import { Loading } from '@/kit/Loading'
import { Trouble } from '@/kit/Trouble'

import classes from './Operations.module.css'

export type Column = {
  /** The heading. */
  name: string
  /** Numbers are aligned at the right. */
  isNumber?: boolean
  /** The heading is for screen readers only: of a column of buttons. */
  isHidden?: boolean
}

type Props = {
  /** What the table lists, for screen readers. */
  label: string
  columns: Column[]
  found: { error: unknown; isPending: boolean; refetch: () => unknown }
  /** Shown in place of the table when it has no rows. */
  empty?: ReactNode
  isEmpty?: boolean
  minWidth?: number
  children: ReactNode
}

export function DataTable({ label, columns, found, empty, isEmpty = false, minWidth = 760, children }: Props) {
  if (found.error) return <Trouble error={found.error} retry={() => void found.refetch()} />
  if (found.isPending) return <Loading height={140} />
  if (isEmpty) return <>{empty}</>
  return (
    <div className={classes.box}>
      <Table.ScrollContainer minWidth={minWidth} type="native" tabIndex={0} role="group" aria-label={label}>
        <Table highlightOnHover aria-label={label}>
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <Heading key={column.name} column={column} />
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>{children}</Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </div>
  )
}

function Heading({ column }: { column: Column }) {
  if (column.isHidden) return <Table.Th aria-label={column.name} />
  return <Table.Th className={`${classes.line} ${column.isNumber ? classes.right : ''}`}>{column.name}</Table.Th>
}

/** A cell with a number. */
export function Number({ children }: { children: ReactNode }) {
  return <Table.Td className={`${classes.right} ${classes.line}`}>{children}</Table.Td>
}

/** The heading of a column of buttons. */
export function useActionsColumn(): Column {
  const { t } = useTranslation()
  return { name: t('operations.actions'), isHidden: true }
}
