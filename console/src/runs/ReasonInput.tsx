import { TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'

type Props = { value: string; onChange: (value: string) => void; isFirst?: boolean }

/** Why someone acts on runs: the audit keeps it. `isFirst`: it is where the dialog begins. */
export function ReasonInput({ value, onChange, isFirst }: Props) {
  const { t } = useTranslation()
  return (
    <TextInput
      label={t('runs.reason')}
      placeholder={t('runs.reasonHint')}
      value={value}
      maxLength={500}
      onChange={(event) => onChange(event.currentTarget.value)}
      data-autofocus={isFirst || undefined}
    />
  )
}
