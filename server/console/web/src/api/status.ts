import { useQuery } from '@tanstack/react-query';
import type { StatusAnswer } from '../../../contract/status-answer.ts';
import { call } from './call.ts';

export function useStatus() {
  return useQuery({
    queryKey: ['status'],
    queryFn: () => call<StatusAnswer>('GET', '/status'),
    refetchInterval: 15_000,
  });
}
