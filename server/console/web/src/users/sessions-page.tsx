import { Badge, Button, Group, Text } from '@mantine/core';
import { IconDeviceLaptop } from '@tabler/icons-react';
import { useState } from 'react';
import type { SessionList, SessionRow } from '../../../contract/operations-answers.ts';
import { call } from '../api/call.ts';
import { useApiMutation, useList } from '../api/queries.ts';
import { useRights } from '../api/session.ts';
import { Empty } from '../components/feedback.tsx';
import { RemoveDialog } from '../components/form-dialog.tsx';
import { ListPage, useSearch } from '../components/list-page.tsx';
import { type Column, RowTable, TimeText } from '../components/row-table.tsx';

/** The sessions of this console. */
export function SessionsPage() {
  const search = useSearch();
  const { may } = useRights();
  const [chosen, setChosen] = useState<SessionRow>();
  const list = useList<SessionList, SessionRow>({
    key: ['sessions', search.contains],
    path: '/sessions',
    query: { contains: search.contains },
    rowsOf: ({ sessions }) => sessions,
  });
  const end = useApiMutation((id: string) => call('DELETE', '/sessions', { query: { id } }), ['sessions']);
  return (
    <ListPage
      title="Sessions"
      one="session"
      list={list}
      search={search}
      empty={
        <Empty icon={<IconDeviceLaptop size={30} stroke={1.4} />} title="No sessions">
          People who are signed in to this console are listed here.
        </Empty>
      }
      dialogs={
        chosen !== undefined && (
          <RemoveDialog
            title="End this session?"
            submit="End the session"
            remove={end}
            what={chosen.id}
            done={`The session of ${chosen.name} has ended.`}
            onDone={() => setChosen(undefined)}
            onClose={() => setChosen(undefined)}
          >
            {chosen.name} has to sign in again. {chosen.own ? 'This is your own session. ' : ''}Access keys stay as they
            are.
          </RemoveDialog>
        )
      }
    >
      {(rows) => (
        <RowTable
          rows={rows}
          rowKey={({ id }) => id}
          columns={columnsOf(may('admin:RevokeSession') ? setChosen : undefined)}
        />
      )}
    </ListPage>
  );
}

function columnsOf(end: ((session: SessionRow) => void) | undefined): readonly Column<SessionRow>[] {
  return [
    {
      head: 'Person',
      cell: ({ name, own }) => (
        <Group gap={8}>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Text>
          {own && <Badge color="gray">this one</Badge>}
        </Group>
      ),
    },
    { head: 'Signed in by', width: 160, wideOnly: true, cell: ({ signedInBy }) => signedInBy },
    { head: 'Since', width: 180, wideOnly: true, cell: ({ signedInAt }) => <TimeText at={signedInAt} /> },
    { head: 'Ends', width: 180, cell: ({ expires }) => <TimeText at={expires} /> },
    ...(end === undefined
      ? []
      : [
          {
            head: undefined,
            width: 84,
            align: 'right' as const,
            cell: (session: SessionRow) => (
              <Button
                variant="default"
                size="compact-sm"
                aria-label={`End the session of ${session.name}`}
                onClick={() => end(session)}
              >
                End…
              </Button>
            ),
          },
        ]),
  ];
}
