import { Anchor } from '@mantine/core';
import { IconMapOff } from '@tabler/icons-react';
import { Link } from 'react-router';
import { Empty } from './empty.tsx';

export function NotFoundPage() {
  return (
    <Empty icon={<IconMapOff size={30} stroke={1.4} />} title="There is no such page" order={1}>
      <Anchor component={Link} to="/buckets" size="sm">
        Go to your buckets
      </Anchor>
    </Empty>
  );
}
