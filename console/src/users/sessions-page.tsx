import { Badge, Group, Text } from '@mantine/core';
import { IconDeviceLaptop } from '@tabler/icons-react';
import { useState } from 'react';
import type { SessionList, SessionRow } from '../../../protocol/console/operations-answers.ts';
import { call } from '../api/call.ts';
import { useApiMutation, useList } from '../api/queries.ts';
import { useRights } from '../api/session.ts';
import { EndButton } from '../components/edit-buttons.tsx';
import { Empty } from '../components/feedback.tsx';
import { RemoveDialog } from '../components/form-dialog.tsx';
import { ListPage, useSearch } from '../components/list-page.tsx';
import { type Column, RowTable, TimeText } from '../components/row-table.tsx';
import { signedInBy } from '../text/signed-in-by.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

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
      title={t.users.sessions}
      list={list}
      search={search}
      empty={
        <Empty icon={IconDeviceLaptop} title={t.users.noSessions}>
          {t.users.peopleWhoAreSignedInToThis}
        </Empty>
      }
      dialogs={
        chosen !== undefined && (
          <RemoveDialog
            title={t.users.endThisSession}
            submit={t.users.endTheSession}
            remove={end}
            what={chosen.id}
            done={say(t.users.theSessionOfHasEnded, { name: chosen.name })}
            onDone={() => setChosen(undefined)}
            onClose={() => setChosen(undefined)}
          >
            {say(chosen.own ? t.users.youHaveToSignInAgain : t.users.hasToSignInAgainAccessKeys, { name: chosen.name })}
          </RemoveDialog>
        )
      }
    >
      {(rows) => (
        <RowTable
          rows={rows.toSorted((a, b) => b.signedInAt.localeCompare(a.signedInAt))}
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
      head: t.labels.person,
      cell: ({ name, own }) => (
        <Group gap={8}>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Text>
          {own && <Badge color="gray">{t.users.thisOne}</Badge>}
        </Group>
      ),
    },
    { head: t.users.signedInBy, width: 170, wideOnly: true, cell: signedInBy },
    { head: t.users.since, width: 156, wideOnly: true, cell: ({ signedInAt }) => <TimeText at={signedInAt} /> },
    { head: t.users.ends, width: 156, cell: ({ expires }) => <TimeText at={expires} /> },
    ...(end === undefined
      ? []
      : [
          {
            head: undefined,
            width: 84,
            align: 'right' as const,
            cell: (session: SessionRow) => (
              <EndButton label={say(t.users.endTheSessionOf, { name: session.name })} onClick={() => end(session)}>
                {t.users.end}
              </EndButton>
            ),
          },
        ]),
  ];
}
