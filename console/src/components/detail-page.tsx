import type { UseQueryResult, UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ResponseError } from '../../../protocol/response-error.ts';
import { Failure, notifyDone, notifyFailure } from './feedback.tsx';
import { LoadingRows } from './list-page.tsx';
import { Button, Group, Menu, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { Link } from 'react-router';
import { IconChevronDown, IconPlayerPause, IconPlayerPlay, IconTrash } from '@tabler/icons-react';
import type { Status } from '../../../protocol/console/identity-answers.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

interface LoadedProps<Answer> {
  /** The error message, for example `The quota cannot be shown`. */
  readonly what: string;
  readonly query: UseQueryResult<Answer>;
  /** Shown until the answer is there. It has the usual height of the answer where something is below it. */
  readonly loading?: ReactNode;
  readonly children: (answer: Answer) => ReactNode;
}

/**
 * Shows the answer of a query, or that it is loading, or why it failed. If the server cannot be reached for the next answer, the last one
 * stays, so that nothing that is typed in it is lost.
 */
export function Loaded<Answer>({ what, query, loading = <LoadingRows />, children }: LoadedProps<Answer>) {
  if (query.isPending) return loading;
  if (!query.isError) return children(query.data);
  const failure = <Failure what={what} error={query.error} retry={query.refetch} />;
  if (query.data === undefined || isFinal(query.error)) return failure;
  return (
    <>
      {failure}
      {children(query.data)}
    </>
  );
}

/** The server has answered, and its answer says that there is nothing to show. */
function isFinal(error: Error): boolean {
  return error instanceof ResponseError && error.status >= 400 && error.status < 500;
}

/** The page that another one belongs to. */
interface Place {
  readonly name: string;
  readonly to: string;
  readonly parent?: Place;
}

interface LoadedPageProps<Answer> extends LoadedProps<Answer> {
  readonly title: string;
  readonly parent: Place;
}

/** A detail page, which has its title and its way back also while it is loading and where it cannot be shown. */
export function LoadedPage<Answer>({ title, parent, what, query, children }: LoadedPageProps<Answer>) {
  if (query.data !== undefined && !(query.isError && isFinal(query.error))) {
    return (
      <Loaded what={what} query={query}>
        {children}
      </Loaded>
    );
  }
  return (
    <DetailPage title={title} parent={parent}>
      <Loaded what={what} query={query}>
        {() => null}
      </Loaded>
    </DetailPage>
  );
}

interface DetailPageProps {
  readonly title: string;
  readonly parent?: Place;
  readonly badge?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** Every page that is not a list: its title, with the way back to the list, its actions, and its sections. */
export function DetailPage({ title, parent, badge, actions, children }: DetailPageProps) {
  useDocumentTitle(`${title} · Coffer`);
  const heading = (
    <Title order={1} fz={parent === undefined ? undefined : 'lg'} style={{ overflowWrap: 'anywhere' }}>
      {title}
    </Title>
  );
  return (
    <Stack gap="lg">
      <Group justify="space-between" mih={36}>
        <Group gap="sm" miw={0}>
          {parent === undefined ? (
            heading
          ) : (
            <nav className="crumbs" aria-label={t.components.place}>
              <Way place={parent} />
              {heading}
            </nav>
          )}
          {badge}
        </Group>
        <Group gap="xs">{actions}</Group>
      </Group>
      {children}
    </Stack>
  );
}

/** The links from the list to a page. */
function Way({ place: { name, to, parent } }: { readonly place: Place }) {
  return (
    <>
      {parent !== undefined && <Way place={parent} />}
      <Link to={to}>{name}</Link>
      <span className="slash" aria-hidden>
        /
      </span>
    </>
  );
}

/** A list of names and values. */
export function Facts({ children }: { readonly children: ReactNode }) {
  return <dl className="facts">{children}</dl>;
}

interface FactProps {
  readonly name: string;
  /** Undefined or empty: the fact is left out. */
  readonly children: ReactNode;
  readonly mono?: boolean;
}

export function Fact({ name, children, mono = false }: FactProps) {
  if (children === undefined || children === '') return null;
  return (
    <>
      <dt>{name}</dt>
      <dd className={mono ? 'mono' : undefined}>{children}</dd>
    </>
  );
}

interface SectionProps {
  readonly title: string;
  readonly words?: string;
  readonly action?: ReactNode;
  readonly children: ReactNode;
}

/** The ID of a section, for links to it. */
export function sectionId(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}]+/gu, '-')
    .replace(/-$/, '');
}

/** A part of a page with its own heading. */
export function Section({ title, words, action, children }: SectionProps) {
  return (
    <section aria-label={title} id={sectionId(title)}>
      <Group justify="space-between" mb={words === undefined ? 'sm' : 4}>
        <Title order={2}>{title}</Title>
        {action}
      </Group>
      {words !== undefined && (
        <Text size="sm" c="dimmed" mb="sm" maw={760}>
          {words}
        </Text>
      )}
      {children}
    </section>
  );
}

type SetStatus = UseMutationResult<unknown, Error, { readonly name: string; readonly status: Status }>;

interface MoreMenuProps {
  /** The user or the group. */
  readonly of: { readonly name: string; readonly status: Status };
  readonly setStatus: SetStatus;
  readonly mayToggle: boolean;
  /** For example `Delete user…`. */
  readonly deleteLabel: string;
  readonly mayDelete: boolean;
  readonly onDelete: () => void;
  /** Items between those that disable it and delete it; absent where the user may use none. */
  readonly children?: ReactNode;
}

/** The less frequent actions on a user or a group. */
export function MoreMenu({ of, setStatus, mayToggle, deleteLabel, mayDelete, onDelete, children }: MoreMenuProps) {
  const { name, status } = of;
  const next = status === 'enabled' ? 'disabled' : 'enabled';
  const hasItems = mayToggle || mayDelete || (children !== undefined && children !== false);

  function toggle(): void {
    setStatus.mutate(
      { name, status: next },
      {
        onSuccess: () =>
          notifyDone(
            next === 'enabled' ? say(t.components.isEnabled, { name }) : say(t.components.isDisabled, { name }),
          ),
        onError: (error) =>
          notifyFailure(
            status === 'enabled' ? say(t.components.staysEnabled, { name }) : say(t.components.staysDisabled, { name }),
            error,
          ),
      },
    );
  }

  if (!hasItems) return null;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" rightSection={<IconChevronDown size={15} />}>
          {t.components.more}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {mayToggle && (
          <Menu.Item
            leftSection={next === 'disabled' ? <IconPlayerPause size={15} /> : <IconPlayerPlay size={15} />}
            onClick={toggle}
          >
            {next === 'disabled' ? t.labels.disable : t.labels.enable}
          </Menu.Item>
        )}
        {children}
        {mayDelete && (
          <Menu.Item color="var(--coffer-danger)" leftSection={<IconTrash size={15} />} onClick={onDelete}>
            {deleteLabel}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
