import { Badge, Button, Group, Stack, Switch, Text, TextInput } from '@mantine/core';
import { IconArrowsExchange, IconPlayerPause, IconPlayerPlay, IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { DetailPage } from '../components/detail-page.tsx';
import { Empty, Failure } from '../components/feedback.tsx';
import { type Column, RowTable } from '../components/row-table.tsx';
import { formatBytes, formatNumber } from '../text/format.ts';
import { DocumentDialog } from './document-dialog.tsx';
import { useLines } from './use-lines.ts';
import { t } from '../texts/texts.ts';
import { locale } from '../texts/language.ts';
import { useDraft } from '../components/use-draft.ts';

/** A line of the trace. */
interface TraceLine {
  readonly number: number;
  readonly time: string;
  readonly nodename: string;
  readonly funcname: string;
  readonly path: string;
  /** Nanoseconds. */
  readonly dur: number;
  readonly error?: string;
  readonly msg?: string;
  readonly http?: {
    readonly request: { readonly method: string; readonly client: string; readonly rawquery?: string };
    readonly response: { readonly statuscode: number };
    readonly stats: { readonly inputbytes: number; readonly outputbytes: number };
  };
}

const maxRows = 300;

/** Requests as they end: `mc admin trace` in the browser. */
export function RequestsPage() {
  const [paused, setPaused] = useState(false);
  const [errors, setErrors] = useState(false);
  const [own, setOwn] = useState(false);
  const [refreshes, setRefreshes] = useState(false);
  const [text, setText] = useDraft('filter', '');
  const [open, setOpen] = useState<TraceLine>();
  const query = {
    ...(own ? { all: 'true' } : { s3: 'true' }),
    ...(errors ? { err: 'true' } : {}),
    ...(refreshes ? {} : { refreshes: 'left-out' }),
  };
  const { lines, error, clear } = useLines<TraceLine>('trace', query, { paused, max: maxRows });
  const wanted = text.trim().toLowerCase();
  const shown = lines.filter((line) => wanted === '' || searchedOf(line).includes(wanted));
  const several = new Set(lines.map(({ nodename }) => nodename)).size > 1;
  return (
    <DetailPage
      title={t.operations.requests}
      actions={
        <>
          <Button variant="default" onClick={clear} disabled={lines.length === 0}>
            {t.operations.clear}
          </Button>
          <Button
            variant="default"
            onClick={() => setPaused(!paused)}
            leftSection={paused ? <IconPlayerPlay size={15} /> : <IconPlayerPause size={15} />}
          >
            {paused ? t.labels.goOn : t.operations.pause}
          </Button>
        </>
      }
    >
      <Group gap="md">
        <TextInput
          aria-label={t.operations.filterRequests}
          placeholder={t.operations.operationPathAddressError}
          leftSection={<IconSearch size={15} />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          w={{ base: '100%', xs: 280 }}
        />
        <Switch
          label={t.operations.errorsAlone}
          checked={errors}
          onChange={(event) => setErrors(event.currentTarget.checked)}
        />
        <Switch
          label={t.operations.administrationToo}
          checked={own}
          onChange={(event) => setOwn(event.currentTarget.checked)}
        />
        {own && (
          <Switch
            label={t.operations.refreshesToo}
            checked={refreshes}
            onChange={(event) => setRefreshes(event.currentTarget.checked)}
          />
        )}
      </Group>
      {error !== undefined && <Failure what={t.operations.theRequestsCannotBeShown} error={error} />}
      {shown.length === 0 ? (
        error === undefined && <NoRequests paused={paused} filtered={lines.length > 0} />
      ) : (
        <RowTable rows={shown} rowKey={({ number }) => String(number)} columns={columnsOf(setOpen, several)} />
      )}
      {open !== undefined && (
        <DocumentDialog title={open.funcname} document={open} onClose={() => setOpen(undefined)} />
      )}
    </DetailPage>
  );
}

function NoRequests({ paused, filtered }: { readonly paused: boolean; readonly filtered: boolean }) {
  if (filtered) {
    return (
      <Text size="sm" c="dimmed" role="status">
        {t.operations.noRequestFits}
      </Text>
    );
  }
  return (
    <div className="rows" role="status">
      <Empty
        icon={IconArrowsExchange}
        title={paused ? t.operations.paused : t.operations.waitingForRequestsToThisServer}
      >
        {t.operations.theyAreRecordedOnlyWhileThisPageIs}
      </Empty>
    </div>
  );
}

/** @param several true to name the server of each request */
function columnsOf(open: (line: TraceLine) => void, several: boolean): readonly Column<TraceLine>[] {
  return [
    {
      head: t.operations.time,
      width: 104,
      wideOnly: true,
      cell: ({ time }) => <time dateTime={time}>{clock.format(new Date(time))}</time>,
    },
    {
      head: t.operations.request,
      cell: (line) => (
        <button type="button" className="row-name" onClick={() => open(line)}>
          <Stack gap={0} miw={0}>
            <Text size="sm" fw={550}>
              {line.funcname.replace(/^s3\./, '')}
            </Text>
            <Text size="xs" c="dimmed" className="mono">
              {line.http?.request.method} {line.path}
            </Text>
            {several && (
              <Text size="xs" c="dimmed" className="mono">
                {line.nodename}
              </Text>
            )}
            <Text size="xs" c="dimmed" className="narrow-only">
              {clock.format(new Date(line.time))}
            </Text>
            {(line.error ?? line.msg) !== undefined && (
              <Text size="xs" c="red" style={{ overflowWrap: 'anywhere' }}>
                {line.error ?? line.msg}
              </Text>
            )}
          </Stack>
        </button>
      ),
    },
    {
      head: t.labels.status,
      width: 74,
      cell: ({ http }) => <StatusCode status={http?.response.statuscode} />,
    },
    { head: t.operations.took, width: 90, align: 'right', cell: ({ dur }) => formatNs(dur) },
    {
      head: t.operations.inOut,
      width: 150,
      align: 'right',
      wideOnly: true,
      cell: ({ http }) =>
        http === undefined ? '' : `${formatBytes(http.stats.inputbytes)} / ${formatBytes(http.stats.outputbytes)}`,
    },
    {
      head: t.operations.from,
      width: 140,
      wideOnly: true,
      cell: ({ http }) => <span className="mono">{http?.request.client}</span>,
    },
  ];
}

export function StatusCode({ status }: { readonly status: number | undefined }) {
  if (status === undefined) return null;
  const color = status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'patina';
  return <Badge color={color}>{status}</Badge>;
}

function searchedOf({ funcname, path, error = '', http }: TraceLine): string {
  return `${funcname} ${path} ${error} ${http?.request.client ?? ''} ${http?.response.statuscode ?? ''}`.toLowerCase();
}

const clock = new Intl.DateTimeFormat(locale, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});

function formatNs(ns: number): string {
  const ms = ns / 1e6;
  if (ms < 1) return `${formatNumber(ms * 1_000, 0)} µs`;
  return ms < 1_000 ? `${formatNumber(ms, 1)} ms` : `${formatNumber(ms / 1_000, 2)} s`;
}
