import type { TestToolServer } from '../../tests/harness/tool-server.ts';
import { type Body, type DemoContext, must, type Part } from './part.ts';
import { color, print } from './terminal.ts';

/** The tool that waits for a person, as a tool server lists it. */
export const payInvoice = {
  name: 'pay_invoice',
  description: 'Pays an invoice.',
  inputSchema: {
    type: 'object',
    properties: { invoice: { type: 'string' }, amount: { type: 'number', minimum: 0 } },
    required: ['invoice', 'amount'],
  },
  result: (args: Body): string => {
    print('tool', `pay_invoice was called with ${JSON.stringify(args)}`);
    return `Paid ${args.amount} for the invoice ${args.invoice}.`;
  },
};

/** The script of the mock model: it calls the tool, then it replies. */
const script = {
  steps: [
    { tool: 'payments__pay_invoice', args: { invoice: '2026-0117', amount: 480 } },
    { text: 'The invoice 2026-0117 has been dealt with.' },
  ],
};

const finished = new Set(['COMPLETED', 'ERROR', 'CANCELLED']);

/**
 * An agent with a tool server, whose tool call waits until a person approves it. `isMailed` returns whether someone has
 * been told of a review: with `--once` the call waits for that, because a review that is closed is sent to no one.
 */
export const startApproval = async (
  { api, url, key, once }: DemoContext,
  toolServer: TestToolServer,
  isMailed: (reviewId: string) => boolean,
): Promise<Part> => {
  const server = await must(
    api.post('/tool-servers', {
      name: 'Payments',
      url: toolServer.url,
      default_policy: 'require_approval',
    }),
  );
  print('tools', `the tool server "${server.name}" at ${server.url} has ${server.tool_count} tool`);
  const agent = await must(
    api.post('/agents', {
      name: 'Cashier',
      mode: 'worker',
      instructions: 'Pay what is due.',
      tool_server_ids: [server.id],
    }),
  );
  const { id } = await must(
    api.post('/work-items', {
      agent_id: agent.id,
      message: 'Pay the invoice 2026-0117.',
      payload: { mock: script },
    }),
  );

  const path = `/work-items/${id}/continue`;
  const approvalOf = ({ approval_id }: Body) => ({ decisions: [{ approval_id, decision: 'approve' }] });

  /** Prints the call that waits and how to decide it. */
  const ask = (approval: Body): void => {
    const { tool_name, arguments: args } = approval;
    print('approval', `the agent "${agent.name}" wants to call ${tool_name} with ${JSON.stringify(args)}`);
    console.log(`
  Approve the call. To refuse it, send "deny"; to change it, add "arguments" to the decision.

  curl -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
    -d '${JSON.stringify(approvalOf(approval))}' ${url}/api/v2${path}
`);
  };

  let status = '';
  return {
    show: async () => {
      if (finished.has(status)) return true;
      const item = await must(api.get(`/work-items/${id}`));
      if (once && item.review_id !== null && isMailed(item.review_id)) {
        print('approval', 'the demo approves it, because of --once');
        await must(api.post(path, approvalOf(item.pending_approvals[0])));
        return false;
      }
      if (item.status === status) return false;
      status = item.status;
      const { result, error } = item;
      const text = error ? `: ${error.code}, ${error.message}` : result === null ? '' : `: ${result}`;
      print('Work Item', `${id} is ${color(status === 'NEEDS_REVIEW' ? 33 : 0, status)}${text}`);
      item.pending_approvals.forEach(ask);
      if (once && finished.has(status) && status !== 'COMPLETED')
        throw new Error(`Work Item ${id}: ${status}`);
      return finished.has(status);
    },
  };
};
