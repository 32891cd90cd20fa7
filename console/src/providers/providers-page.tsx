import { Badge, Button, Group, Text, Tooltip } from '@mantine/core';
import { IconFingerprint, IconPlus } from '@tabler/icons-react';
import { Link } from 'react-router';
import type { ProviderKind, ProviderRow } from '../../../protocol/console/provider-answers.ts';
import { useProviders } from '../api/providers.ts';
import { CopyText } from '../components/copy-text.tsx';
import { Empty } from '../components/feedback.tsx';
import { type Column, RowName, RowTable } from '../components/row-table.tsx';
import { providerUrl } from '../components/urls.ts';
import { DetailPage, Loaded, Section } from '../components/detail-page.tsx';
import { State } from './provider-state.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

export function ProvidersPage() {
  const providers = useProviders();
  return (
    <DetailPage title={t.labels.identityProviders}>
      <Loaded what={t.providers.theListOfIdentityProvidersCannotBe} query={providers}>
        {({ redirectUri, kinds }) => (
          <>
            <Group gap={6}>
              <Text size="sm" c="dimmed">
                {t.providers.redirectUriToRegisterAtAnOpenid}
              </Text>
              <CopyText text={redirectUri} />
            </Group>
            {kinds.map((kind) => (
              <Section
                key={kind.type}
                title={kindName(kind.type)}
                words={`${kind.description.charAt(0).toUpperCase()}${kind.description.slice(1)}.`}
                action={<Add kind={kind} />}
              >
                <Rows kind={kind} />
              </Section>
            ))}
          </>
        )}
      </Loaded>
    </DetailPage>
  );
}

function Add({ kind }: { readonly kind: ProviderKind }) {
  if (!kind.multiple && kind.configurations.length > 0) return null;
  return (
    <Button
      component={Link}
      variant="default"
      to={`/identity-providers/new?${new URLSearchParams({ type: kind.type })}`}
      leftSection={<IconPlus size={16} />}
    >
      {say(t.providers.addProviderType, { type: kindName(kind.type) })}
    </Button>
  );
}

function Rows({ kind }: { readonly kind: ProviderKind }) {
  if (kind.configurations.length === 0) {
    return (
      <Empty icon={IconFingerprint} title={t.providers.noneYet}>
        {t.providers.withAProviderPeopleSignInBy}
      </Empty>
    );
  }
  const columns: readonly Column<ProviderRow>[] = [
    {
      head: t.labels.name,
      width: 240,
      cell: ({ name }) => <RowName name={shownName(name)} icon={IconFingerprint} to={providerUrl(kind.type, name)} />,
    },
    { head: t.labels.state, cell: ({ state }) => <State state={state} /> },
    { head: t.providers.from, width: 220, wideOnly: true, cell: ({ origin }) => <Origin origin={origin} /> },
  ];
  return <RowTable rows={kind.configurations} rowKey={({ name }) => name} columns={columns} stacked />;
}

function Origin({ origin }: { readonly origin: ProviderRow['origin'] }) {
  if (origin === 'stored') {
    return (
      <Text size="sm" c="dimmed">
        {t.providers.thisConsoleOrMc}
      </Text>
    );
  }
  return (
    <Tooltip label={t.providers.environmentVariablesOfTheServerSetItChange}>
      <Badge color="gray">{t.providers.environmentReadOnly}</Badge>
    </Tooltip>
  );
}

export function kindName(type: string): string {
  return type === 'openid' ? 'OpenID' : type === 'ldap' ? 'LDAP' : type;
}

/** `_` names the default configuration. */
export function shownName(name: string): string {
  return name === '_' ? `_ (${t.providers.default})` : name;
}
