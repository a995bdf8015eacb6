import { type Scan, selectSpans } from '@agent-platform/otlp';
import type { Slice } from '@agent-platform/otlp/log';
import type { RoutingTable } from '../routing.ts';

const routesOf = (agent: string | null, table: RoutingTable): number[] =>
  [...new Set(table.forAgent(agent, 'received'))].sort((a, b) => a - b);

/**
 * The slices of a request: one for each distinct set of integrations. If all spans go to the same set, the request is
 * its own only slice, byte for byte.
 */
export const slicesOf = (bytes: Buffer, scanned: Scan, table: RoutingTable): Slice[] => {
  const { agents, agentOf, spans, rejected } = scanned;
  const [first] = agentOf;
  if (first !== undefined && rejected === 0 && agentOf.every((agent) => agent === first)) {
    return [{ bytes, spans, routes: routesOf(agents[first]!, table) }];
  }
  const groups = new Map<string, { routes: readonly number[]; group: number; spans: number }>();
  const groupOf = agents.map((agent) => {
    const routes = routesOf(agent, table);
    const key = routes.join();
    const known = groups.get(key) ?? { routes, group: groups.size, spans: 0 };
    groups.set(key, known);
    return known;
  });
  for (const agent of agentOf) if (agent >= 0) groupOf[agent]!.spans++;
  const used = [...groups.values()].filter(({ spans }) => spans > 0);
  if (used.length === 1 && rejected === 0) {
    return [{ bytes, spans, routes: used[0]!.routes }];
  }
  return used
    .filter(({ routes }) => routes.length > 0)
    .map(({ routes, group, spans }) => ({
      routes,
      spans,
      bytes: selectSpans(bytes, (span) => {
        const agent = agentOf[span]!;
        return agent >= 0 && groupOf[agent]!.group === group;
      }),
    }));
};
