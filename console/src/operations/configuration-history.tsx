import { Button, Stack, Text } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { admin, adminText } from '../api/admin.ts';
import { useApiMutation } from '../api/queries.ts';
import { Loaded } from '../components/detail-page.tsx';
import { Empty, notifyDone } from '../components/feedback.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { RowTable, TimeText } from '../components/row-table.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

/** The configuration as it was before a change. */
interface Entry {
  readonly restoreId: string;
  readonly createTime: string;
  readonly data: string;
}

/** Earlier configurations, each of which can be restored. */
export function ConfigurationHistory() {
  const [chosen, setChosen] = useState<Entry>();
  const history = useQuery({
    queryKey: ['configuration-history'],
    queryFn: () => admin<readonly Entry[]>('GET', 'list-config-history-kv', { query: { count: '50' } }),
  });
  const restore = useApiMutation(
    (id: string) => adminText('PUT', 'restore-config-history-kv', { query: { restoreId: id } }),
    ['configuration-history', 'configuration', 'providers', 'health'],
  );
  return (
    <Loaded what={t.configuration.theHistoryCannotBeShown} query={history}>
      {(entries) =>
        entries.length === 0 ? (
          <Empty icon={IconHistory} title={t.configuration.noChangesYet}>
            {t.configuration.eachChangeOfAnIdentityProviderIs}
          </Empty>
        ) : (
          <>
            <RowTable
              rows={entries}
              rowKey={({ restoreId }) => restoreId}
              columns={[
                {
                  head: t.configuration.time,
                  width: 180,
                  wideOnly: true,
                  cell: ({ createTime }) => <TimeText at={createTime} />,
                },
                {
                  head: t.configuration.configuration,
                  cell: ({ createTime, data }) => (
                    <>
                      <span className="narrow-only">
                        <TimeText at={createTime} />
                      </span>
                      <pre className="mono lines">{data}</pre>
                    </>
                  ),
                },
                {
                  head: undefined,
                  width: 110,
                  align: 'right',
                  cell: (entry) => (
                    <Button
                      variant="default"
                      size="compact-sm"
                      aria-label={say(t.configuration.restoreTheConfigurationOf, { createTime: entry.createTime })}
                      onClick={() => setChosen(entry)}
                    >
                      {t.configuration.restore}
                    </Button>
                  ),
                },
              ]}
            />
            {chosen !== undefined && (
              <FormDialog
                title={t.configuration.restoreThisConfiguration}
                submit={t.configuration.restoreTitle}
                wide
                pending={restore.isPending}
                error={restore.error}
                onClose={() => setChosen(undefined)}
                onSubmit={() =>
                  restore.mutate(chosen.restoreId, {
                    onSuccess: () => {
                      setChosen(undefined);
                      notifyDone(t.configuration.theConfigurationWasRestored);
                    },
                  })
                }
              >
                <Stack gap="xs">
                  <Text size="sm">{t.configuration.theseLinesReplaceThePresentOnesThe}</Text>
                  <pre className="document">{chosen.data}</pre>
                </Stack>
              </FormDialog>
            )}
          </>
        )
      }
    </Loaded>
  );
}
