import { Button, Group } from '@mantine/core'
import { useTranslation } from 'react-i18next'

type Props = { found: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown } }

/** Loads the next page of a list, if there is one. */
export function More({ found }: Props) {
  const { t } = useTranslation()
  if (!found.hasNextPage) return null
  return (
    <Group justify="center">
      <Button variant="default" loading={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
        {t('app.more')}
      </Button>
    </Group>
  )
}
