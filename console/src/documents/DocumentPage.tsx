import { Anchor, Button, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { IconDownload, IconEye } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { useMay } from '@/api/me'
import { basePath } from '@/app/base'
import { shortened, visible } from '@/format/text'
import { bytes } from '@/format/numbers'
import { Loading } from '@/kit/Loading'
import { Page } from '@/kit/Page'
import { Trouble } from '@/kit/Trouble'
import { Id, Name, Time } from '@/kit/Values'

import { ReviewStanding, Runs } from './Context'
import classes from './DocumentPage.module.css'
import { History } from './History'
import { documentQuery, reviewQuery } from './queries'
import { ReadingsTable } from './ReadingsTable'

const route = getRouteApi('/documents/$documentId')

/** All that is known of a document: what happened to it, how it was read, its runs, and its original. */
export function DocumentPage() {
  const { t } = useTranslation()
  const { documentId } = route.useParams()
  const { data, error, refetch } = useQuery(documentQuery(documentId))
  const title = data ? shortened(visible(data.file_name), 90) : t('documents.title')
  return (
    <Page title={title} actions={data && <Actions document={data} />}>
      {error && <Trouble error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading height={240} />}
      {data && (
        <div className={classes.split}>
          <Stack gap="xl" miw={0}>
            <Section title={t('documents.history')}>
              <History documentId={documentId} fileName={data.file_name} />
            </Section>
            <Section title={t('documents.readings')}>
              <ReadingsTable documentId={documentId} />
            </Section>
          </Stack>
          <Stack gap="xl" miw={0}>
            <Section title={t('documents.facts')}>
              <Facts document={data} />
            </Section>
            <Section title={t('documents.runs')}>
              <Runs documentId={documentId} />
            </Section>
          </Stack>
        </div>
      )}
    </Page>
  )
}

function Actions({ document }: { document: Model<'Document'> }) {
  const { t } = useTranslation()
  const mayReview = useMay('review')
  const review = useQuery({ ...reviewQuery(document.document_id), enabled: mayReview }).data
  return (
    <>
      <Button
        component="a"
        variant="default"
        href={`${basePath}/v1/documents/${encodeURIComponent(document.document_id)}/original`}
        download={document.file_name}
        leftSection={<IconDownload size={16} aria-hidden />}
      >
        {t('documents.original')}
      </Button>
      {review && (
        <Button
          component={Link}
          to={`/review/${encodeURIComponent(review.review_id)}`}
          leftSection={<IconEye size={16} aria-hidden />}
        >
          {t('documents.review')}
        </Button>
      )}
    </>
  )
}

function Facts({ document }: { document: Model<'Document'> }) {
  const { t } = useTranslation()
  const mayReview = useMay('review')
  const parts = document.parts ?? []
  return (
    <Stack gap="sm">
      <SimpleGrid component="dl" className={classes.facts} cols={1} spacing={0} verticalSpacing={6}>
        {mayReview && (
          <Fact name={t('documents.standing')}>
            <ReviewStanding documentId={document.document_id} />
          </Fact>
        )}
        <Fact name={t('documents.received')}>
          <Time value={document.received_at} />
        </Fact>
        <Fact name={t('documents.size')}>{bytes(document.size_bytes)}</Fact>
        <Fact name={t('documents.type')}>
          <Name value={document.media_type} />
        </Fact>
        {document.source && (
          <Fact name={t('documents.source')}>
            <Name value={document.source} />
          </Fact>
        )}
        {document.definition && (
          <Fact name={t('documents.definition')}>
            <Name value={document.definition} />
          </Fact>
        )}
        {document.duplicate_of && (
          <Fact name={t('documents.duplicateOf')}>
            <Other id={document.duplicate_of} />
          </Fact>
        )}
        {document.part_of && (
          <Fact name={t('documents.partOf', { first: document.first_page, last: document.last_page })}>
            <Other id={document.part_of} />
          </Fact>
        )}
        {parts.length > 0 && (
          <Fact name={t('documents.parts')}>
            <Stack gap={2} align="flex-start">
              {parts.map((id) => (
                <Other key={id} id={id} />
              ))}
            </Stack>
          </Fact>
        )}
        <Fact name={t('documents.id')}>
          <Id value={document.document_id} />
        </Fact>
        <Fact name="SHA-256">
          <span className={classes.digest}>{document.sha256}</span>
        </Fact>
      </SimpleGrid>
      <Text size="xs" c="dimmed">
        {t('documents.originalHint')}
      </Text>
    </Stack>
  )
}

/** A link to another document. */
function Other({ id }: { id: string }) {
  return (
    <Anchor size="sm" component={Link} to={`/documents/${encodeURIComponent(id)}`}>
      <Id value={id} />
    </Anchor>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={classes.fact}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <Group mb="sm">
        <Title order={2}>{title}</Title>
      </Group>
      {children}
    </section>
  )
}
