/** Another process of the platform, which decides commands. */
export interface Peer {
  /** Its name on leases and beats. */
  readonly owner: string
  /** Where it takes commands: an `http:` address of the network between the processes. */
  readonly url: string
}

/** Sends messages to peers. */
export interface PeerClient {
  /**
   * Sends a message to a peer; resolves to its answer. @throws Error where there is none: the peer cannot be reached,
   * refuses, or the signal aborts. Whether it has worked on the message is then unknown.
   */
  readonly send: (peer: Peer, message: string, signal: AbortSignal) => Promise<string>
  readonly close: () => Promise<void>
}
