import { useMutation, useQueryClient } from '@tanstack/react-query';

/** A call that changes something. What the named queries know is asked for again, also after a refusal: it may be what is outdated. */
export function useChange<Input, Answer = void>(send: (input: Input) => Promise<Answer>, stale: readonly string[]) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSettled: async () => {
      await Promise.all(stale.map((name) => client.invalidateQueries({ queryKey: [name] })));
    },
  });
}
