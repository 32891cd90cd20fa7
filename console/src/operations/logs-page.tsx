import { Badge, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay, IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { DetailPage } from '../components/detail-page.tsx';
import { Failure } from '../components/feedback.tsx';
import { LoadingRows } from '../components/list-page.tsx';
import { LineTime, RowTable } from '../components/row-table.tsx';
import { formatMillisecond } from '../text/format.ts';
import { DocumentDialog } from './document-dialog.tsx';
import { useLines } from './use-lines.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

interface LogLine {
  readonly number: number;
  readonly level: string;
  readonly time: string;
  readonly message?: string;
  readonly node?: string;
  readonly ConsoleMsg: string;
  readonly error?: { readonly message: string };
}

const maxRows = 500;
const levels = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

/** The logs of all servers as they are written: `mc admin logs` in the browser. */
export function LogsPage() {
  const [paused, setPaused] = useState(false);
  const [level, setLevel] = useDraft('level', 'INFO');
  const [text, setText] = useDraft('filter', '');
  const [open, setOpen] = useState<LogLine>();
  const { lines, error, isPending } = useLines<LogLine>('log', { limit: String(maxRows) }, { paused, max: maxRows });
  const wanted = text.trim().toLowerCase();
  const least = levels.indexOf(level);
  const shown = lines.filter(
    (line) => levels.indexOf(line.level) >= least && (wanted === '' || line.ConsoleMsg.toLowerCase().includes(wanted)),
  );
  const several = new Set(lines.map(({ node }) => node)).size > 1;
  return (
    <DetailPage
      title={t.operations.logs}
      actions={
        <Button
          variant="default"
          onClick={() => setPaused(!paused)}
          leftSection={paused ? <IconPlayerPlay size={15} /> : <IconPlayerPause size={15} />}
        >
          {paused ? t.labels.goOn : t.operations.pause}
        </Button>
      }
    >
      <Group gap="md">
        <TextInput
          aria-label={t.operations.filterLines}
          placeholder={t.labels.filter}
          leftSection={<IconSearch size={15} />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          w={{ base: '100%', xs: 280 }}
        />
        <Select
          aria-label={t.operations.level}
          data={[
            { value: 'DEBUG', label: t.operations.allLevels },
            { value: 'INFO', label: t.operations.infoAndAbove },
            { value: 'WARN', label: t.operations.warningsAndErrors },
            { value: 'ERROR', label: t.operations.errors },
          ]}
          value={level}
          onChange={(value) => setLevel(value ?? 'INFO')}
          allowDeselect={false}
          w={200}
        />
      </Group>
      {error !== undefined && <Failure what={t.operations.theLogCannotBeShown} error={error} />}
      {isPending && <LoadingRows />}
      {shown.length === 0 ? (
        !isPending &&
        error === undefined && (
          <Text size="sm" c="dimmed" role="status">
            {t.operations.noLines}
          </Text>
        )
      ) : (
        <RowTable
          rows={shown}
          rowKey={({ number }) => String(number)}
          columns={[
            { head: t.operations.time, width: 208, wideOnly: true, cell: ({ time }) => <LineTime at={time} /> },
            { head: t.operations.level, width: 82, cell: (line) => <Level level={line.level} /> },
            {
              head: t.operations.message,
              cell: (line) => (
                <button type="button" className="row-name" onClick={() => setOpen(line)}>
                  <Stack gap={0} miw={0}>
                    <span lang="en" style={{ overflowWrap: 'anywhere' }}>
                      {line.message ?? line.ConsoleMsg}
                    </span>
                    <Text size="xs" c="dimmed" className="narrow-only">
                      {formatMillisecond(line.time)}
                    </Text>
                    {several && (
                      <Text size="xs" c="dimmed" className="mono">
                        {line.node}
                      </Text>
                    )}
                    {line.error !== undefined && (
                      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                        {line.error.message}
                      </Text>
                    )}
                  </Stack>
                </button>
              ),
            },
          ]}
        />
      )}
      {open !== undefined && (
        <DocumentDialog title={t.operations.lineOfTheLog} document={open} onClose={() => setOpen(undefined)} />
      )}
    </DetailPage>
  );
}

function Level({ level }: { readonly level: string }) {
  const color = level === 'ERROR' || level === 'FATAL' ? 'red' : level === 'WARN' ? 'yellow' : 'gray';
  return <Badge color={color}>{level.toLowerCase()}</Badge>;
}
