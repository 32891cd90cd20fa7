import { Alert, Image, ScrollArea, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ObjectDetails } from '../../../../protocol/console/answers.ts';
import { contentUrl } from '../../api/objects.ts';
import { s3 } from '../../api/s3.ts';
import { formatBytes } from '../../text/format.ts';
import { xml, xmlDocument } from '../../text/xml.ts';
import { indentJson, parseCsv, previewKind } from './preview-kind.ts';
import { selectedText, tableOf } from './select-answer.ts';
import { say } from '../../texts/say.ts';
import { t } from '../../texts/texts.ts';

/** Bytes of a text that the page reads. */
const maxText = 256 * 1024;
const maxImage = 50 * 1024 * 1024;
const maxRows = 200;

interface PreviewProps {
  readonly bucket: string;
  readonly object: ObjectDetails;
}

/**
 * Shows an object without running anything of it: text as text, tables as cells, and images and media in elements that run no scripts. The
 * server answers previews with a fixed content type and a policy that forbids all else.
 */
export function Preview({ bucket, object }: PreviewProps) {
  const kind = previewKind(object.key, object.contentType);
  const [broken, setBroken] = useState(false);
  if (kind === undefined || object.size === 0 || object.encryption?.scheme === 'SSE-C') return null;
  if (broken) {
    return (
      <Text size="sm" c="dimmed">
        {t.objectDetails.theBrowserCannotShowThisFile}
      </Text>
    );
  }
  if (kind.kind === 'parquet') return <ParquetPreview bucket={bucket} object={object} />;
  if (!('view' in kind)) return <TextPreview bucket={bucket} object={object} kind={kind.kind} />;
  if (kind.kind === 'image' && object.size > maxImage) return null;
  const src = `${contentUrl(bucket, object.key, { view: kind.view })}&etag=${encodeURIComponent(object.etag)}`;
  const onError = () => setBroken(true);
  switch (kind.kind) {
    case 'image':
      return (
        <Image
          src={src}
          alt={say(t.objectDetails.previewOf, { key: object.key })}
          fit="contain"
          mah={260}
          radius="sm"
          bg="var(--coffer-surface)"
          onError={onError}
        />
      );
    case 'audio':
      return <audio className="preview-media" controls preload="metadata" src={src} onError={onError} />;
    case 'video':
      return <video className="preview-media" controls preload="metadata" src={src} onError={onError} />;
    case 'pdf':
      return <iframe className="preview-frame" title={say(t.objectDetails.previewOf, { key: object.key })} src={src} />;
    default:
      return kind satisfies never;
  }
}

interface TextPreviewProps extends PreviewProps {
  readonly kind: 'text' | 'json' | 'csv';
}

function TextPreview({ bucket, object, kind }: TextPreviewProps) {
  const cut = object.size > maxText;
  const text = useQuery({
    queryKey: ['preview', bucket, object.key, object.etag],
    queryFn: async ({ signal }) => {
      const range: Record<string, string> = cut ? { range: `bytes=0-${maxText - 1}` } : {};
      const response = await s3('GET', bucket, { key: object.key, headers: range, signal });
      return new TextDecoder().decode(await response.arrayBuffer());
    },
    gcTime: 0,
  });
  if (text.isPending) return null;
  if (text.isError) {
    return (
      <Alert color="gray" role="status">
        {text.error.message}
      </Alert>
    );
  }
  return (
    <figure className="preview">
      <ScrollArea.Autosize
        mah={300}
        viewportProps={{ tabIndex: 0, 'aria-label': say(t.objectDetails.previewOf, { key: object.key }) }}
      >
        {kind === 'csv' ? (
          <Cells table={parseCsv(text.data, maxRows)} />
        ) : (
          <pre>{kind === 'json' && !cut ? indentJson(text.data) : text.data}</pre>
        )}
      </ScrollArea.Autosize>
      {cut && (
        <Text size="xs" c="dimmed" component="figcaption" p={6}>
          {say(t.objectDetails.theFirstOf, { maxText: formatBytes(maxText), size: formatBytes(object.size) })}
        </Text>
      )}
    </figure>
  );
}

/** The first rows of a Parquet file, which the server reads: a file may be larger than the memory of the page. */
function ParquetPreview({ bucket, object }: PreviewProps) {
  const table = useQuery({
    queryKey: ['preview', bucket, object.key, object.etag],
    queryFn: async ({ signal }) => {
      const response = await s3('POST', bucket, {
        key: object.key,
        query: { select: '', 'select-type': '2' },
        body: firstRows,
        signal,
      });
      return tableOf(selectedText(await response.arrayBuffer()));
    },
    gcTime: 0,
  });
  if (table.isPending) return null;
  if (table.isError) {
    return (
      <Alert color="gray" role="status">
        {table.error.message}
      </Alert>
    );
  }
  return (
    <figure className="preview">
      <ScrollArea.Autosize
        mah={300}
        viewportProps={{ tabIndex: 0, 'aria-label': say(t.objectDetails.previewOf, { key: object.key }) }}
      >
        <Cells table={table.data} />
      </ScrollArea.Autosize>
      {table.data.length > maxRows && (
        <Text size="xs" c="dimmed" component="figcaption" p={6}>
          {say(t.objectDetails.theFirstRows, { maxRows })}
        </Text>
      )}
    </figure>
  );
}

const firstRows = xmlDocument('SelectObjectContentRequest', [
  xml('Expression', `SELECT * FROM S3Object LIMIT ${maxRows}`),
  xml('ExpressionType', 'SQL'),
  xml('InputSerialization', [xml('Parquet', [])]),
  xml('OutputSerialization', [xml('JSON', [])]),
]);

function Cells({ table: [head = [], ...rows] }: { readonly table: readonly (readonly string[])[] }) {
  return (
    <Table fz="xs" verticalSpacing={3} stickyHeader>
      <Table.Thead>
        <Table.Tr>
          {head.map((cell, index) => (
            <Table.Th key={index}>{cell}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row, index) => (
          <Table.Tr key={index}>
            {row.map((cell, column) => (
              <Table.Td key={column}>{cell}</Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
