import { ActionIcon, Badge, Button, Group, Stack, Text, Tooltip } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { IconArrowBackUp, IconDownload, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { objectsChanged } from '../api/changes.ts';
import { download } from '../api/objects.ts';
import type { KeyRights } from '../api/rights.ts';
import { listVersions, restoreVersion, type VersionRow } from '../api/versions.ts';
import { Failure, notifyDone, notifyFailure } from '../components/feedback.tsx';
import { LoadingRows } from '../components/list-page.tsx';
import { formatBytes, formatExactTime, formatSecond } from '../text/format.ts';
import { DeleteVersionDialog } from './folder-actions.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

interface VersionListProps {
  readonly bucket: string;
  readonly objectKey: string;
  readonly rights: KeyRights;
}

/** The versions of one key from the newest to the oldest, with their sizes and times. */
export function VersionList({ bucket, objectKey, rights }: VersionListProps) {
  const [deleting, setDeleting] = useState<VersionRow>();
  const list = useInfiniteQuery({
    queryKey: ['versions', bucket, objectKey],
    queryFn: ({ pageParam, signal }) =>
      listVersions(bucket, { prefix: objectKey, delimiter: '', cursor: pageParam, signal }),
    initialPageParam: '',
    // Other keys begin with this one: after the first of them there are no more versions of it.
    getNextPageParam: ({ versions, next }) => (versions.at(-1)?.key === objectKey ? next : undefined),
  });
  if (list.isPending) return <LoadingRows />;
  if (list.isError)
    return <Failure what={t.objectDetails.theVersionsCannotBeShown} error={list.error} retry={list.refetch} />;
  const versions = list.data.pages.flatMap((page) => page.versions).filter(({ key }) => key === objectKey);
  return (
    <Stack gap="xs">
      {versions.length === 0 && (
        <Text size="sm" c="dimmed">
          {t.objectDetails.thereIsNoVersionOfThisKey}
        </Text>
      )}
      <ul className="version-list" aria-label={t.objectDetails.versions}>
        {versions.map((version, index) => (
          <Version
            key={version.versionId}
            {...{ bucket, version, rights }}
            before={versions[index + 1]}
            onDelete={() => setDeleting(version)}
          />
        ))}
      </ul>
      {list.hasNextPage && (
        <Button
          size="compact-sm"
          variant="default"
          loading={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
        >
          {t.objectDetails.olderVersions}
        </Button>
      )}
      {deleting !== undefined && (
        <DeleteVersionDialog
          bucket={bucket}
          row={{ kind: 'version', key: deleting.key, version: deleting }}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </Stack>
  );
}

interface VersionProps {
  readonly bucket: string;
  readonly version: VersionRow;
  /** The version before it. */
  readonly before: VersionRow | undefined;
  readonly rights: KeyRights;
  readonly onDelete: () => void;
}

function Version({ bucket, version, before, rights, onDelete }: VersionProps) {
  const { key, versionId, kind, isLatest, lastModified, size } = version;
  const time = formatSecond(lastModified);

  function restore(): void {
    restoreVersion(bucket, version)
      .then(() => notifyDone(say(t.objectDetails.isAsItWasOnTheVersions, { key, time })))
      .catch((error: Error) => notifyFailure(t.objectDetails.theVersionCannotBeRestored, error))
      .finally(() => objectsChanged(bucket));
  }

  return (
    <li>
      <Group justify="space-between" wrap="nowrap" gap="xs" align="flex-start">
        <Stack gap={0} miw={0}>
          <Group gap={6}>
            <Text size="sm" component="time" dateTime={lastModified} title={formatExactTime(lastModified)}>
              {time}
            </Text>
            {isLatest && <Badge size="sm">{t.objectDetails.current}</Badge>}
            {kind === 'marker' && (
              <Badge size="sm" color="gray">
                {t.objectDetails.deleteMarker}
              </Badge>
            )}
          </Group>
          {kind === 'version' && (
            <Text size="xs" c="dimmed">
              {formatBytes(size)}
              {difference(size, before)}
            </Text>
          )}
          <Text size="xs" c="dimmed" className="mono">
            {versionId}
          </Text>
        </Stack>
        <Group gap={2} wrap="nowrap">
          {kind === 'version' && rights.may('s3:GetObjectVersion') && (
            <Tooltip label={t.labels.download}>
              <ActionIcon
                size="sm"
                aria-label={say(t.objectDetails.downloadTheVersionOf, { time })}
                onClick={() => {
                  download(bucket, key, versionId).catch((error: Error) => {
                    notifyFailure(t.objectDetails.theVersionCannotBeDownloaded, error);
                  });
                }}
              >
                <IconDownload size={15} />
              </ActionIcon>
            </Tooltip>
          )}
          {kind === 'version' && !isLatest && rights.may('s3:GetObjectVersion') && rights.may('s3:PutObject') && (
            <Tooltip label={t.objectDetails.makeItTheCurrentVersion}>
              <ActionIcon size="sm" aria-label={say(t.objectDetails.restoreTheVersionOf, { time })} onClick={restore}>
                <IconArrowBackUp size={15} />
              </ActionIcon>
            </Tooltip>
          )}
          {rights.may('s3:DeleteObjectVersion') && (
            <Tooltip label={t.labels.delete}>
              <ActionIcon
                size="sm"
                aria-label={
                  kind === 'marker'
                    ? say(t.objectDetails.deleteTheDeleteMarkerOf, { time })
                    : say(t.objectDetails.deleteTheVersionOf, { time })
                }
                onClick={onDelete}
              >
                <IconTrash size={15} />
              </ActionIcon>
            </Tooltip>
          )}
        </Group>
      </Group>
    </li>
  );
}

function difference(size: number, before: VersionRow | undefined): string {
  if (before === undefined || before.kind === 'marker' || before.size === size) return '';
  const change = formatBytes(Math.abs(size - before.size));
  return size > before.size
    ? say(t.objectDetails.moreThanBefore, { change })
    : say(t.objectDetails.lessThanBefore, { change });
}
