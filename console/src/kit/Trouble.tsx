import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { IconAlertCircle } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

import { isProblem } from '@/api/problem'

import { problemText } from './problem_text'

type Props = {
  error: unknown
  /** Asks again: offered unless the answer stays the same. */
  retry?: () => void
}

/** Shows why something could not be loaded or done, in words, with a way to try again. */
export function Trouble({ error, retry }: Props) {
  const { t } = useTranslation()
  const { title, detail } = problemText(error, t)
  return (
    <Alert color="red" variant="light" icon={<IconAlertCircle size={18} />} title={title} role="alert">
      <Stack gap="xs">
        {detail && <Text size="sm">{detail}</Text>}
        {retry && !isProblem(error, 'forbidden') && (
          <Group>
            <Button variant="default" onClick={retry}>
              {t('app.tryAgain')}
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  )
}
