import { Badge, Button, CloseButton, Drawer, Group, Image, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconDownload, IconLock, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import type { ObjectDetails } from '../../../contract/answers.ts';
import { contentUrl, download, useObject } from '../api/objects.ts';
import { Fact, Facts } from '../components/detail-page.tsx';
import { CopyText } from '../components/copy-text.tsx';
import { Failure, notifyFailure } from '../components/feedback.tsx';
import { formatBytes, formatExactTime } from '../text/format.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { nameIn } from '../components/urls.ts';

interface ObjectInspectorProps {
  readonly bucket: string;
  readonly prefix: string;
  readonly objectKey: string;
  readonly onClose: () => void;
}

/** The details of an object: next to the rows in a wide window, else in a drawer. */
export function ObjectInspector({ bucket, prefix, objectKey, onClose }: ObjectInspectorProps) {
  const beside = useMediaQuery('(min-width: 68em)', window.innerWidth >= 1088);
  const name = nameIn(prefix, objectKey);
  const details = <Details key={objectKey} bucket={bucket} objectKey={objectKey} onClose={onClose} />;
  if (!beside) {
    return (
      <Drawer opened onClose={onClose} size={460} title={<Name text={name} />}>
        {details}
      </Drawer>
    );
  }
  return (
    <aside className="inspector" aria-label={`Details of ${name}`}>
      <Group justify="space-between" wrap="nowrap" align="flex-start" mb="sm">
        <Name text={name} />
        <CloseButton size="sm" aria-label="Close details" onClick={onClose} />
      </Group>
      {details}
    </aside>
  );
}

function Name({ text }: { readonly text: string }) {
  return (
    <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
      {text}
    </Text>
  );
}

interface DetailsProps {
  readonly bucket: string;
  readonly objectKey: string;
  readonly onClose: () => void;
}

function Details({ bucket, objectKey, onClose }: DetailsProps) {
  const object = useObject(bucket, objectKey);
  const [deleting, setDeleting] = useState(false);
  if (object.isPending) return <Skeleton h={220} />;
  if (object.isError) return <Failure what="This object cannot be shown" error={object.error} retry={object.refetch} />;
  return (
    <Stack gap="md">
      <Preview bucket={bucket} object={object.data} />
      <Group gap="xs">
        <Button
          leftSection={<IconDownload size={16} />}
          onClick={() => {
            download(bucket, objectKey).catch((error: Error) => {
              notifyFailure('The object cannot be downloaded', error);
            });
          }}
        >
          Download
        </Button>
        <Button variant="default" leftSection={<IconTrash size={16} />} onClick={() => setDeleting(true)}>
          Delete…
        </Button>
      </Group>
      <ObjectFacts bucket={bucket} object={object.data} />
      {Object.keys(object.data.metadata).length > 0 && (
        <section>
          <Title order={2} mb="xs">
            Metadata
          </Title>
          <Facts>
            {Object.entries(object.data.metadata).map(([name, value]) => (
              <Fact key={name} name={name} mono>
                {value}
              </Fact>
            ))}
          </Facts>
        </section>
      )}
      {deleting && (
        <DeleteDialog
          bucket={bucket}
          deletion={{ keys: [objectKey], folders: [] }}
          onClose={() => setDeleting(false)}
          onDeleted={onClose}
        />
      )}
    </Stack>
  );
}

function ObjectFacts({ bucket, object }: { readonly bucket: string; readonly object: ObjectDetails }) {
  const headers = [
    ['Content type', object.contentType],
    ['Content encoding', object.contentEncoding],
    ['Content language', object.contentLanguage],
    ['Content disposition', object.contentDisposition],
    ['Cache control', object.cacheControl],
    ['Expires', object.expires],
    ['Storage class', object.storageClass],
  ] as const;
  return (
    <Facts>
      <Fact name="Key">
        <CopyText text={object.key} />
      </Fact>
      <Fact name="Address">
        <CopyText text={`s3://${bucket}/${object.key}`} />
      </Fact>
      <Fact name="Size">
        {formatBytes(object.size)}
        {object.size >= 1024 && (
          <Text span size="sm" c="dimmed">
            {' '}
            · {object.size.toLocaleString()} bytes
          </Text>
        )}
      </Fact>
      <Fact name="Modified">
        <time dateTime={object.lastModified}>{formatExactTime(object.lastModified)}</time>
      </Fact>
      <Fact name="Encryption">
        {object.encryption === undefined ? (
          'none'
        ) : (
          <Badge leftSection={<IconLock size={11} />}>{object.encryption.scheme}</Badge>
        )}
      </Fact>
      {object.encryption?.scheme === 'SSE-KMS' && (
        <Fact name="Key name">
          <span className="mono">{object.encryption.keyName}</span>
        </Fact>
      )}
      <Fact name="ETag">
        <CopyText text={object.etag} />
      </Fact>
      {object.checksum !== undefined && (
        <Fact name={object.checksum.algorithm} mono>
          {object.checksum.value}
        </Fact>
      )}
      <Fact name="Parts">{object.parts}</Fact>
      {headers.map(([name, value]) => (
        <Fact key={name} name={name}>
          {value}
        </Fact>
      ))}
    </Facts>
  );
}

const previewTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml']);
const previewLimit = 20 * 1024 * 1024;

/** Shows images alone: an image element runs no script. */
function Preview({ bucket, object }: { readonly bucket: string; readonly object: ObjectDetails }) {
  const [broken, setBroken] = useState(false);
  if (broken || object.size > previewLimit || !previewTypes.has(object.contentType ?? '')) return null;
  return (
    <Image
      src={`${contentUrl(bucket, object.key)}&etag=${encodeURIComponent(object.etag)}`}
      alt={`Preview of ${object.key}`}
      fit="contain"
      mah={220}
      radius="sm"
      bg="var(--coffer-surface)"
      onError={() => setBroken(true)}
    />
  );
}
