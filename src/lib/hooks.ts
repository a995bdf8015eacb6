/** Hooks that other features add while they are created. They are called one after the other, in that order. */
export interface Hooks<Given extends unknown[]> {
  add(hook: (...given: Given) => Promise<void>): void;
  call(...given: Given): Promise<void>;
}

export const createHooks = <Given extends unknown[]>(): Hooks<Given> => {
  const hooks: ((...given: Given) => Promise<void>)[] = [];
  return {
    add: (hook) => void hooks.push(hook),
    call: async (...given) => {
      for (const hook of hooks) await hook(...given);
    },
  };
};
