import { Badge, Text } from '@mantine/core';
import type { ProviderState } from '../../../protocol/console/provider-answers.ts';
import { t } from '../texts/texts.ts';

export function State({ state }: { readonly state: ProviderState }) {
  switch (state.kind) {
    case 'ready':
      return <Badge>{t.providers.ready}</Badge>;
    case 'off':
      return <Badge color="gray">{t.providers.switchedOff}</Badge>;
    case 'unknown':
      return (
        <Text size="sm" c="dimmed">
          {t.providers.notCheckedBeforeASignIn}
        </Text>
      );
    case 'unavailable':
      return (
        <div>
          <Badge color="red">{t.providers.cannotBeUsed}</Badge>
          <Text size="sm" c="dimmed" mt={2} style={{ overflowWrap: 'anywhere' }}>
            {state.reason}
          </Text>
        </div>
      );
    default:
      return state satisfies never;
  }
}
