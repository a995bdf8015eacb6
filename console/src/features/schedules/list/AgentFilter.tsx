import type { ComponentProps } from 'react';
import { AgentFilter as AnyAgentFilter } from '../../../resource/index.ts';
import { schedules as words } from '../../../text/en/schedules.ts';

/** The schedules of one agent. */
export const AgentFilter = (props: Omit<ComponentProps<typeof AnyAgentFilter>, 'label' | 'mode'>) => (
  <AnyAgentFilter {...props} label={words.agent} mode="worker" />
);
