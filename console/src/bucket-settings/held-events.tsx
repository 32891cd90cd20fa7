import { ActionIcon, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { IconRefresh, IconTrash } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { HeldEvent, HeldEventChange, HeldEventPage } from '../../../protocol/admin/held-event.ts';
import { admin } from '../api/admin.ts';
import { useApiMutation } from '../api/queries.ts';
import { useRights } from '../api/session.ts';
import { Loaded } from '../components/detail-page.tsx';
import { notifyDone, notifyFailure } from '../components/feedback.tsx';
import { RemoveDialog } from '../components/form-dialog.tsx';
import { RowTable } from '../components/row-table.tsx';
import { formatTime } from '../text/format.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

interface HeldEventsProps {
  /** `ID:TYPE` */
  readonly target: string;
}

/** A button that shows the events which a target refuses. Callers who may not list them get none. */
export function HeldEvents({ target }: HeldEventsProps) {
  const { may } = useRights();
  const [shown, setShown] = useState(false);
  if (!may('admin:ListHeldEvents')) return null;
  return (
    <>
      <Button size="compact-xs" variant="default" onClick={() => setShown(true)}>
        {t.bucketSettings.heldOpen}
      </Button>
      {shown && <HeldEventsDialog target={target} onClose={() => setShown(false)} />}
    </>
  );
}

function useChange(target: string, what: 'retry' | 'drop') {
  return useApiMutation(
    (chosen: 'all' | HeldEvent) =>
      admin<HeldEventChange>('POST', `coffer/notifications/held/${what}`, {
        query: { target, ...(chosen === 'all' ? { all: 'true' } : { id: chosen.id }) },
      }),
    ['held-events', 'notification-targets'],
  );
}

function HeldEventsDialog({ target, onClose }: HeldEventsProps & { readonly onClose: () => void }) {
  const { may } = useRights();
  const held = useInfiniteQuery({
    queryKey: ['held-events', target],
    queryFn: ({ pageParam, signal }) =>
      admin<HeldEventPage>('GET', 'coffer/notifications/held', { query: { target, after: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next,
    select: ({ pages }): readonly HeldEvent[] => pages.flatMap(({ events }) => events),
  });
  const retry = useChange(target, 'retry');
  const drop = useChange(target, 'drop');
  const [dropped, setDropped] = useState<HeldEvent>();
  const mayRetry = may('admin:RetryHeldEvents');
  const mayDrop = may('admin:DropHeldEvents');

  function tryAgain(chosen: 'all' | HeldEvent): void {
    retry.mutate(chosen, {
      onSuccess: ({ changed }) => notifyDone(say(t.bucketSettings.heldRetried, { events: changed })),
      onError: (error) => notifyFailure(t.bucketSettings.heldNotRetried, error),
    });
  }

  return (
    <Modal opened onClose={onClose} title={say(t.bucketSettings.heldTitle, { target })} size="xl">
      <Stack gap="md">
        <Loaded what={t.bucketSettings.heldFailure} query={held}>
          {(events) =>
            events.length === 0 ? (
              <Text size="sm">{t.bucketSettings.heldNone}</Text>
            ) : (
              <RowTable
                rows={events}
                rowKey={({ id }) => id}
                stacked
                columns={[
                  { head: t.bucketSettings.heldObject, cell: objectOf },
                  { head: t.bucketSettings.heldSince, cell: ({ since }) => formatTime(since) },
                  { head: t.bucketSettings.heldReason, cell: ({ error }) => error },
                  {
                    head: undefined,
                    cell: (event) => (
                      <Group gap="xs" wrap="nowrap" justify="flex-end">
                        {mayRetry && (
                          <ActionIcon
                            size="sm"
                            aria-label={say(t.bucketSettings.heldRetryOne, { object: objectOf(event) })}
                            onClick={() => tryAgain(event)}
                          >
                            <IconRefresh size={15} />
                          </ActionIcon>
                        )}
                        {mayDrop && (
                          <ActionIcon
                            size="sm"
                            aria-label={say(t.bucketSettings.heldDropOne, { object: objectOf(event) })}
                            onClick={() => setDropped(event)}
                          >
                            <IconTrash size={15} />
                          </ActionIcon>
                        )}
                      </Group>
                    ),
                  },
                ]}
              />
            )
          }
        </Loaded>
        <Group justify="flex-end" gap="xs">
          {held.hasNextPage && (
            <Button variant="default" loading={held.isFetchingNextPage} onClick={() => void held.fetchNextPage()}>
              {t.bucketSettings.heldMore}
            </Button>
          )}
          {mayRetry && held.data !== undefined && held.data.length > 0 && (
            <Button variant="default" loading={retry.isPending} onClick={() => tryAgain('all')}>
              {t.bucketSettings.heldRetryAll}
            </Button>
          )}
        </Group>
      </Stack>
      {dropped !== undefined && (
        <RemoveDialog
          title={say(t.bucketSettings.heldDropQuestion, { object: objectOf(dropped) })}
          submit={t.bucketSettings.heldDropSubmit}
          remove={drop}
          what={dropped}
          done={t.bucketSettings.heldDropped}
          onDone={() => setDropped(undefined)}
          onClose={() => setDropped(undefined)}
        >
          {t.bucketSettings.heldDropHelp}
        </RemoveDialog>
      )}
    </Modal>
  );
}

/** An event that cannot be read has a name alone. */
function objectOf({ bucket, key, id }: HeldEvent): string {
  return bucket === undefined || key === undefined ? id : `${bucket}/${key}`;
}
