import { Badge, Button, Group, Stack, Table, Text, Title, Tooltip } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { IconFingerprint, IconPlus } from '@tabler/icons-react';
import { Link } from 'react-router';
import type { ProviderKind, ProviderRow, ProviderState } from '../../../contract/provider-answers.ts';
import { useProviders } from '../api/providers.ts';
import { CopyText } from '../components/copy-text.tsx';
import { Empty, Failure } from '../components/feedback.tsx';
import { LoadingRows } from '../components/list-page.tsx';
import { providerUrl } from '../components/urls.ts';
import { Section } from '../components/detail-page.tsx';

export function ProvidersPage() {
  useDocumentTitle('Identity providers · Coffer');
  const providers = useProviders();
  return (
    <Stack gap="xl">
      <div>
        <Title order={1} mih={36}>
          Identity providers
        </Title>
        {providers.data !== undefined && (
          <Group gap={6}>
            <Text size="sm" c="dimmed">
              Address to register at an OpenID provider, for people to come back to:
            </Text>
            <CopyText text={providers.data.redirectUri} />
          </Group>
        )}
      </div>
      {providers.isPending && <LoadingRows />}
      {providers.isError && (
        <Failure what="The identity providers cannot be shown" error={providers.error} retry={providers.refetch} />
      )}
      {providers.data?.kinds.map((kind) => (
        <Section
          key={kind.type}
          title={kindName(kind.type)}
          words={`${kind.description.charAt(0).toUpperCase()}${kind.description.slice(1)}.`}
          action={<Add kind={kind} />}
        >
          <Rows kind={kind} />
        </Section>
      ))}
    </Stack>
  );
}

function Add({ kind }: { readonly kind: ProviderKind }) {
  if (!kind.multiple && kind.configurations.length > 0) return null;
  return (
    <Button
      component={Link}
      to={`/identity-providers/new?${new URLSearchParams({ type: kind.type })}`}
      leftSection={<IconPlus size={16} />}
    >
      Add {kindName(kind.type)} provider
    </Button>
  );
}

function Rows({ kind }: { readonly kind: ProviderKind }) {
  if (kind.configurations.length === 0) {
    return (
      <div className="rows">
        <Empty icon={<IconFingerprint size={34} stroke={1.3} />} title="None yet">
          With a provider people sign in by the account that they have already, and what they may do is decided there or
          here.
        </Empty>
      </div>
    );
  }
  return (
    <div className="rows">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={240}>Name</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th w={220}>From</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {kind.configurations.map((row) => (
            <ProviderTableRow key={row.name} type={kind.type} row={row} />
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

function ProviderTableRow({ type, row }: { readonly type: string; readonly row: ProviderRow }) {
  return (
    <Table.Tr>
      <Table.Td>
        <Link className="row-name" to={providerUrl(type, row.name)}>
          <IconFingerprint size={18} stroke={1.5} className="row-icon" aria-hidden />
          <span>{shownName(row.name)}</span>
        </Link>
      </Table.Td>
      <Table.Td>
        <State state={row.state} />
      </Table.Td>
      <Table.Td>
        <Origin origin={row.origin} />
      </Table.Td>
    </Table.Tr>
  );
}

export function State({ state }: { readonly state: ProviderState }) {
  switch (state.kind) {
    case 'ready':
      return <Badge>ready</Badge>;
    case 'off':
      return <Badge color="gray">switched off</Badge>;
    case 'unknown':
      return (
        <Text size="sm" c="dimmed">
          asked when somebody signs in
        </Text>
      );
    case 'unavailable':
      return (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          <Badge color="red" mr={6}>
            cannot be used
          </Badge>
          {state.reason}
        </Text>
      );
    default:
      return state satisfies never;
  }
}

function Origin({ origin }: { readonly origin: ProviderRow['origin'] }) {
  if (origin === 'stored') {
    return (
      <Text size="sm" c="dimmed">
        this console or mc
      </Text>
    );
  }
  return (
    <Tooltip label="It is set by variables where the server is started, and changed there.">
      <Badge color="gray">environment, read only</Badge>
    </Tooltip>
  );
}

export function kindName(type: string): string {
  return type === 'openid' ? 'OpenID' : type === 'ldap' ? 'LDAP' : type;
}

/** `_` is the configuration without a name of its own. */
export function shownName(name: string): string {
  return name === '_' ? '_ (default)' : name;
}
