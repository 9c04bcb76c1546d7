/** The columns of an export, in the order in which they are offered. The API's own list decides what there is. */
import type { Model } from '@/api/client'

export type Column = Model<'ColumnChoice'>['name']
export type LineColumn = Model<'LineColumnChoice'>['name']

/** What an export has unless other columns are chosen. */
export const USUAL: readonly Column[] = [
  'vendor_name',
  'vendor_vat_id',
  'invoice_number',
  'date',
  'due_date',
  'currency',
  'net',
  'tax',
  'total',
  'iban',
  'approved_by',
  'approved_at',
  'file_name',
  'document_id',
]

export const COLUMNS: readonly Column[] = [
  ...USUAL.slice(0, 3),
  'order_reference',
  'document_type',
  'date',
  'due_date',
  'delivery_date',
  'currency',
  'net',
  'tax',
  'total',
  'iban',
  'account',
  'account_scheme',
  'payment_reference',
  'buyer_name',
  'vendor_trade_name',
  'vendor_country',
  'source',
  'received_at',
  'approved_by',
  'approved_at',
  'file_name',
  'document_id',
]

export const LINE_COLUMNS: readonly LineColumn[] = [
  'invoice_number',
  'vendor_name',
  'position',
  'description',
  'quantity',
  'unit_price',
  'amount',
  'tax_rate',
  'currency',
  'document_id',
]

export function isColumn(name: unknown): name is Column {
  return COLUMNS.some((column) => column === name)
}
