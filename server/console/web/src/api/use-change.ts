import { useMutation, useQueryClient } from '@tanstack/react-query';

/** A call that changes something; what the named queries know is asked for again afterwards. */
export function useChange<Input, Answer = void>(send: (input: Input) => Promise<Answer>, stale: readonly string[]) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSuccess: async () => {
      await Promise.all(stale.map((name) => client.invalidateQueries({ queryKey: [name] })));
    },
  });
}
