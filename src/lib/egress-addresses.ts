import ipaddr from 'ipaddr.js';

/** Link-local addresses and the metadata services of clouds: customer data must not go there. */
const defaultEgressDeny = [
  '169.254.0.0/16',
  'fe80::/10',
  'fd00:ec2::254/128',
  'fd00:ec2::23/128',
  'fd20:ce::254/128',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
];

/** Addresses that the internet does not reach: this machine, private and link-local networks, and all that is no single host. */
const notPublic = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

type Cidr = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Parses a list of CIDR ranges (RFC 4632) and addresses. Throws an error that names the wrong entry. */
export const parseCidrs = (list: readonly string[]): Cidr[] =>
  list.map((entry) => {
    try {
      if (entry.includes('/')) return ipaddr.parseCIDR(entry);
      const address = ipaddr.parse(entry);
      return [address, address.kind() === 'ipv4' ? 32 : 128];
    } catch {
      throw new Error(`"${entry}" is not a CIDR range such as 10.0.0.0/8 or fd00::/8`);
    }
  });

/** The ranges of IPv6 that contain an IPv4 address, and the byte of the address at which it begins. */
const embedding: Record<string, number> = { ipv4Mapped: 12, rfc6052: 12, rfc6145: 12, '6to4': 2 };

/**
 * The addresses that packets to an address may reach: the IPv4 address inside an IPv6 one as well (mapped, compatible,
 * translated, NAT64, 6to4, and both of Teredo: its server and, with all bits turned, its client), and this machine for the unspecified address.
 */
const reachedBy = (text: string): (ipaddr.IPv4 | ipaddr.IPv6)[] => {
  const address = ipaddr.parse(text.split('%')[0]!);
  const reached = [address];
  if (address instanceof ipaddr.IPv6) {
    const bytes = address.toByteArray();
    const compatible = bytes.slice(0, 12).every((byte) => byte === 0) && bytes[12] !== 0;
    const start = compatible ? 12 : embedding[address.range()];
    if (start !== undefined) reached.push(new ipaddr.IPv4(bytes.slice(start, start + 4)));
    if (address.range() === 'teredo') {
      const client = bytes.slice(12).map((byte) => byte ^ 0xff);
      reached.push(new ipaddr.IPv4(bytes.slice(4, 8)), new ipaddr.IPv4(client));
    }
  }
  for (const one of [...reached]) {
    if (one.range() === 'unspecified')
      reached.push(ipaddr.parse(one.kind() === 'ipv4' ? '127.0.0.1' : '::1'));
  }
  return reached;
};

const isIn = (address: ipaddr.IPv4 | ipaddr.IPv6, ranges: Cidr[]): boolean =>
  ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));

/**
 * Returns a function that says whether packets may go to an address (IPv4 or IPv6, as text). `allow` wins over `deny`,
 * whose default is the link-local addresses and metadata services. Throws if a list cannot be parsed.
 */
export const createAddressFilter = (rules: {
  deny?: readonly string[];
  allow?: readonly string[];
}): ((address: string) => boolean) => {
  const deny = parseCidrs(rules.deny ?? defaultEgressDeny);
  const allow = parseCidrs(rules.allow ?? []);
  return (text) => {
    const addresses = reachedBy(text);
    return addresses.some((one) => isIn(one, allow)) || !addresses.some((one) => isIn(one, deny));
  };
};

/** The same for addresses that members give: only public ones, and those of `allow` (`EGRESS_MEMBERS_ALLOW`). */
export const createMembersFilter = (allow: readonly string[]): ((address: string) => boolean) =>
  createAddressFilter({ deny: notPublic, allow });
