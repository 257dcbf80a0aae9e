/**
 * Routes that need no authentication: discovery, and what the ramdisk calls. As real Ironic's `acl_public_routes`, matched on
 * the decoded path without trailing slashes; `.json` and `.xml` may follow.
 */
const publicRoutes = /^(?:\/|\/v1|\/v1\/lookup|\/v1\/heartbeat\/[a-z0-9-]+|\/v1\/continue_inspection)(?:\.json|\.xml)?$/

/** Give it the very path that is routed: percent-decoded, without the query. */
export const isPublicRoute = (path: string): boolean => publicRoutes.test(path.replace(/\/+$/, '') || path)
