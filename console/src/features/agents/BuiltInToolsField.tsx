import type { ComponentProps } from 'react';
import type { PublicAgent } from '../../api/types.gen.ts';
import { agents as words } from '../../text/en/agents.ts';
import { MultiSelect, optionsOf } from '../../ui/index.ts';

export type BuiltInTool = PublicAgent['settings']['builtin_tools'][number];

const options = optionsOf<BuiltInTool>(words.builtInTools);

export const BuiltInToolsField = (
  field: Omit<ComponentProps<typeof MultiSelect>, 'label' | 'hint' | 'options' | 'nothing'>,
) => (
  <MultiSelect
    {...field}
    label={words.builtIn}
    hint={words.builtInHint}
    options={options}
    nothing={words.noBuiltIn}
  />
);
