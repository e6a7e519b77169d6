from harness.replay.freshness import read_listening

TABLE = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1435 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1
   1: 0100007F:1435 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1000        0 2 1
  sl  local_address                         remote_address                        st tx_queue
   0: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000
"""


def test_only_listening_sockets_are_listed_with_their_addresses() -> None:
    assert read_listening(TABLE) == {"127.0.0.1:5173", "0000:0000:0000:0000:0000:0000:0000:0001:80"}
