import { Alert, Button, Group, Modal, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { encode } from 'uqr';
import type { ShareAnswer } from '../../../contract/rights.ts';
import { shareLink } from '../api/objects.ts';
import { useObjectRights } from '../api/rights.ts';
import { CopyButtonText } from '../components/copy-text.tsx';
import { useRestoreFocus } from '../components/form-dialog.tsx';
import { nameIn } from '../components/urls.ts';
import { formatExactTime } from '../text/format.ts';
import { curlOf } from './copy-as.ts';
import { rich, say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

interface ShareDialogProps {
  readonly bucket: string;
  readonly objectKey: string;
  readonly versionId?: string;
  /** Offers an upload only, for a key that does not exist yet. */
  readonly uploadOnly?: boolean;
  readonly onClose: () => void;
}

const lifetimes = [
  { value: '900', label: t.objectDetails.n15Minutes },
  { value: '3600', label: t.objectDetails.n1Hour },
  { value: '43200', label: t.objectDetails.n12Hours },
  { value: '86400', label: t.objectDetails.n1Day },
  { value: '259200', label: t.objectDetails.n3Days },
  { value: '604800', label: t.objectDetails.n7Days },
];

/** Makes a link with which anybody can download the object, or upload it, until the link expires. */
export function ShareDialog({ bucket, objectKey, versionId, uploadOnly = false, onClose }: ShareDialogProps) {
  useRestoreFocus();
  const rights = useObjectRights(bucket, objectKey);
  const [key, setKey] = useState(objectKey);
  const [method, setMethod] = useState<'GET' | 'PUT'>(uploadOnly ? 'PUT' : 'GET');
  const [seconds, setSeconds] = useState('3600');
  const share = useQuery({
    queryKey: ['share', bucket, key, versionId, method, seconds],
    queryFn: () => shareLink(bucket, { key, versionId, method, seconds }),
    // A link is made anew each time: its time begins now.
    gcTime: 0,
    staleTime: Infinity,
    enabled: key !== '' && !(uploadOnly && key.endsWith('/')),
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={say(t.objectDetails.shareName, { name: nameIn('', objectKey.split('/').at(-1) || objectKey) })}
      size="lg"
    >
      <Stack gap="md">
        {uploadOnly ? (
          <TextInput
            label={t.objectDetails.keyOfTheUpload}
            data-autofocus
            spellCheck={false}
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
          />
        ) : (
          versionId === undefined &&
          rights.may('s3:PutObject') && (
            <SegmentedControl
              aria-label={t.objectDetails.whatTheLinkIsFor}
              value={method}
              onChange={(value) => setMethod(value === 'PUT' ? 'PUT' : 'GET')}
              data={[
                { value: 'GET', label: t.objectDetails.toDownload },
                { value: 'PUT', label: t.objectDetails.toUpload },
              ]}
            />
          )
        )}
        <Select
          label={t.objectDetails.itWorksFor}
          data={lifetimes}
          value={seconds}
          onChange={(value) => setSeconds(value ?? '3600')}
          allowDeselect={false}
        />
        {share.isError && (
          <Alert color="red" role="alert">
            {share.error.message}
          </Alert>
        )}
        {share.isSuccess && <Link answer={share.data} method={method} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t.labels.close}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function Link({ answer, method }: { readonly answer: ShareAnswer; readonly method: 'GET' | 'PUT' }) {
  return (
    <Stack gap="sm">
      <TextInput
        label={t.objectDetails.link}
        readOnly
        className="mono-input"
        value={answer.url}
        onFocus={(event) => event.currentTarget.select()}
      />
      <Text size="sm" c="dimmed">
        {rich(t.objectDetails.whoHasTheLinkNeedsNoAccount, {
          expires: <time dateTime={answer.expires}>{formatExactTime(answer.expires)}</time>,
        })}
      </Text>
      <Group gap="xs">
        <CopyButtonText text={answer.url} label={t.objectDetails.copyTheLink} />
        <CopyButtonText text={curlOf(answer.url, method)} label={t.objectDetails.copyAsCurl} />
      </Group>
      <QrCode text={answer.url} />
    </Stack>
  );
}

/** Undefined for a text that is too long, as the link of temporary credentials with a long token. */
function matrixOf(text: string): readonly (readonly boolean[])[] | undefined {
  try {
    return encode(text, { ecc: 'L', border: 2 }).data;
  } catch {
    return undefined;
  }
}

function QrCode({ text }: { readonly text: string }) {
  const matrix = matrixOf(text);
  if (matrix === undefined) {
    return (
      <Text size="sm" c="dimmed">
        {t.objectDetails.theLinkIsTooLongForA}
      </Text>
    );
  }
  const path = matrix.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return (
    <svg
      className="qr"
      viewBox={`0 0 ${matrix.length} ${matrix.length}`}
      role="img"
      aria-label={t.objectDetails.qrCodeOfTheLink}
    >
      <rect width={matrix.length} height={matrix.length} fill="#fff" />
      <path d={path} fill="#000" shapeRendering="crispEdges" />
    </svg>
  );
}
