import { Alert, Button, Group, Modal, SegmentedControl, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { encode } from 'uqr';
import type { ShareAnswer } from '../../../protocol/console/rights.ts';
import { shareLink } from '../api/objects.ts';
import { useObjectRights } from '../api/rights.ts';
import { CopyButtonText } from '../components/copy-text.tsx';
import { useRestoreFocus } from '../components/kept-focus.ts';
import { nameIn } from '../components/urls.ts';
import { formatDuration, formatExactTime } from '../text/format.ts';
import { shorten } from '../text/names.ts';
import { curlOf } from './copy-as.ts';
import { rich, say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

interface ShareDialogProps {
  readonly bucket: string;
  readonly objectKey: string;
  readonly versionId?: string;
  /** Offers an upload only, for a key that does not exist yet. */
  readonly uploadOnly?: boolean;
  readonly onClose: () => void;
}

/** Seconds. */
const lifetimes = [900, 3_600, 43_200, 86_400, 259_200, 604_800];

/** The server shortens it to the longest time that the policies, the session and S3 allow. */
const longest = String(lifetimes.at(-1));

/** The choices for a link of at most this many seconds; the last one is the longest. */
function lifetimeOptions(max: number) {
  const shorter = lifetimes.filter((seconds) => seconds < max);
  return [
    ...shorter.map((seconds) => ({ value: String(seconds), label: formatDuration(seconds) })),
    { value: longest, label: formatDuration(max) },
  ];
}

const limits: Readonly<Record<ShareAnswer['limitedBy'], string>> = {
  policy: t.objectDetails.longestByPolicy,
  session: t.objectDetails.longestBySession,
  protocol: t.objectDetails.longestByProtocol,
};

/** Makes a link with which anybody can download the object, or upload it, until the link expires. */
export function ShareDialog({ bucket, objectKey, versionId, uploadOnly = false, onClose }: ShareDialogProps) {
  useRestoreFocus();
  const rights = useObjectRights(bucket, objectKey);
  const [key, setKey] = useDraft('share.key', objectKey);
  const [method, setMethod] = useDraft<'GET' | 'PUT'>('share.method', uploadOnly ? 'PUT' : 'GET');
  const [seconds, setSeconds] = useDraft('share.seconds', '3600');
  const share = useQuery({
    queryKey: ['share', bucket, key, versionId, method, seconds],
    queryFn: () => shareLink(bucket, { key, versionId, method, seconds }),
    // A link is made anew each time: its time begins now.
    gcTime: 0,
    staleTime: Infinity,
    // The choices stay while another link is made.
    placeholderData: keepPreviousData,
    enabled: key !== '' && !(uploadOnly && key.endsWith('/')),
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={say(t.objectDetails.shareName, { name: shorten(nameIn('', objectKey.split('/').at(-1) || objectKey)) })}
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
        <Lifetime answer={share.data} seconds={seconds} onChange={setSeconds} />
        {share.isError && (
          <Alert color="red" role="alert">
            {share.error.message}
          </Alert>
        )}
        {share.isSuccess && !share.isPlaceholderData && <Link answer={share.data} method={method} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t.labels.close}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

interface LifetimeProps {
  /** Undefined until the first link is made. */
  readonly answer: ShareAnswer | undefined;
  readonly seconds: string;
  readonly onChange: (seconds: string) => void;
}

/** The choice of the time that a link works, up to the longest one, which the description names with its reason. */
function Lifetime({ answer, seconds, onChange }: LifetimeProps) {
  const max = answer?.longest ?? Number(longest);
  return (
    <Select
      label={t.objectDetails.itWorksFor}
      description={answer && say(limits[answer.limitedBy], { time: formatDuration(max) })}
      data={lifetimeOptions(max)}
      value={Number(seconds) < max ? seconds : longest}
      onChange={(value) => onChange(value ?? longest)}
      allowDeselect={false}
    />
  );
}

function Link({ answer, method }: { readonly answer: ShareAnswer; readonly method: 'GET' | 'PUT' }) {
  return (
    <Stack gap="sm">
      <Textarea
        label={t.objectDetails.link}
        readOnly
        autosize
        maxRows={8}
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
