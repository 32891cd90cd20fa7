import { useMutation } from '@tanstack/react-query';
import type { ExplainAnswer, ExplainQuestion } from '../../../contract/explain-answers.ts';
import { call } from './call.ts';

export function useExplain() {
  return useMutation({
    mutationFn: (question: ExplainQuestion) => call<ExplainAnswer>('POST', '/explain', { body: question }),
  });
}
