import ipaddr from 'ipaddr.js';

/** Link-local addresses and the metadata services of clouds: customer data must not go there. */
const defaultEgressDeny = ['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254/128', '100.100.100.200/32'];

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

/** The address that packets go to: IPv4 inside IPv6 (mapped, or NAT64's 64:ff9b::/96, RFC 6052) is IPv4. */
const destinationOf = (text: string): ipaddr.IPv4 | ipaddr.IPv6 => {
  const address = ipaddr.parse(text.split('%')[0]!);
  if (address instanceof ipaddr.IPv6) {
    if (address.isIPv4MappedAddress()) return address.toIPv4Address();
    if (address.range() === 'rfc6052') return new ipaddr.IPv4(address.toByteArray().slice(12));
  }
  return address;
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
    const address = destinationOf(text);
    // Packets to the unspecified address go to this machine.
    const loopback = ipaddr.parse(address.kind() === 'ipv4' ? '127.0.0.1' : '::1');
    const addresses = address.range() === 'unspecified' ? [address, loopback] : [address];
    return addresses.some((one) => isIn(one, allow)) || !addresses.some((one) => isIn(one, deny));
  };
};
