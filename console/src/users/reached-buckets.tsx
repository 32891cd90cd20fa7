import { Text } from '@mantine/core';
import { IconPackage } from '@tabler/icons-react';
import type { ReachedBuckets } from '../../../protocol/console/reach-answers.ts';
import { useReachedBuckets } from '../api/reach.ts';
import { Section } from '../components/detail-page.tsx';
import { Failure } from '../components/feedback.tsx';
import { LoadingRows, MoreRows } from '../components/list-page.tsx';
import { reachColumns, reachSentence } from '../components/reach-cells.tsx';
import { RowName, RowTable } from '../components/row-table.tsx';
import { settingsUrl } from '../components/urls.ts';
import { t } from '../texts/texts.ts';

type Row = ReachedBuckets['buckets'][number];

/** The rights of a user in all buckets. */
export function ReachedBucketsSection({ name }: { readonly name: string }) {
  const reached = useReachedBuckets(name);
  const rows = reached.data ?? [];
  return (
    <Section title={t.users.rightsInBuckets} words={t.users.whatThePoliciesOfTheUserOf}>
      {reached.isPending && <LoadingRows />}
      {reached.isLoadingError && (
        <Failure what={t.users.theRightsCannotBeShown} error={reached.error} retry={reached.refetch} />
      )}
      {reached.isSuccess && rows.length === 0 && (
        <Text size="sm" c="dimmed">
          {reached.hasNextPage ? t.users.noneInTheFirstBuckets : t.users.noneInAnyBucket}
        </Text>
      )}
      {rows.length > 0 && (
        <RowTable
          rows={rows}
          rowKey={({ bucket }) => bucket}
          columns={[{ head: t.labels.bucket, cell: (row) => <BucketCell row={row} /> }, ...reachColumns<Row>()]}
        />
      )}
      <MoreRows list={reached} shown={Math.max(1, rows.length)} />
    </Section>
  );
}

function BucketCell({ row: { bucket, rights } }: { readonly row: Row }) {
  return (
    <>
      <RowName name={bucket} icon={IconPackage} to={settingsUrl(bucket)} />
      <Text size="xs" c="dimmed" className="narrow-only">
        {reachSentence(rights)}
      </Text>
    </>
  );
}
