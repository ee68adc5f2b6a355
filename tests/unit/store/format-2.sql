-- A registry of format 2, as leasewatch wrote it on a little-endian host: leases in every state, three of them at rest, the ledger, a hold. Never changed: newer versions must read it.
PRAGMA application_id = 1802269489;
PRAGMA user_version = 2;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE ledger(
	seq INTEGER PRIMARY KEY,
	at INTEGER NOT NULL,
	id TEXT NOT NULL,
	generation INTEGER NOT NULL,
	from_state TEXT NOT NULL,
	to_state TEXT NOT NULL,
	requester INTEGER NOT NULL,
	user TEXT NOT NULL,
	surface TEXT NOT NULL,
	runtime TEXT NOT NULL,
	profile TEXT NOT NULL,
	session TEXT NOT NULL,
	labels TEXT NOT NULL,
	zombie_ms INTEGER,
	lateness_ms INTEGER,
	why TEXT NOT NULL
);
INSERT INTO ledger VALUES(1,1700000000000,'kls-aaaaaaaaaa',0,'-','requested',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'asked for');
INSERT INTO ledger VALUES(2,1700000000001,'kls-aaaaaaaaab',41,'-','requested',1001,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'asked for');
INSERT INTO ledger VALUES(3,1700000000101,'kls-aaaaaaaaab',41,'requested','admitted',1001,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'there is room');
INSERT INTO ledger VALUES(4,1700000000002,'kls-aaaaaaaaac',42,'-','requested',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'asked for');
INSERT INTO ledger VALUES(5,1700000000102,'kls-aaaaaaaaac',42,'requested','admitted',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'there is room');
INSERT INTO ledger VALUES(6,1700000000202,'kls-aaaaaaaaac',42,'admitted','active',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'it runs');
INSERT INTO ledger VALUES(7,1700000000003,'kls-aaaaaaaaad',43,'-','requested',1003,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'asked for');
INSERT INTO ledger VALUES(8,1700000000103,'kls-aaaaaaaaad',43,'requested','admitted',1003,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'there is room');
INSERT INTO ledger VALUES(9,1700000000203,'kls-aaaaaaaaad',43,'admitted','active',1003,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'it runs');
INSERT INTO ledger VALUES(10,1700000000004,'kls-aaaaaaaaae',44,'-','requested',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'asked for');
INSERT INTO ledger VALUES(11,1700000000104,'kls-aaaaaaaaae',44,'requested','admitted',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'there is room');
INSERT INTO ledger VALUES(12,1700000000204,'kls-aaaaaaaaae',44,'admitted','active',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'it runs');
INSERT INTO ledger VALUES(13,1700000000005,'kls-aaaaaaaaaf',45,'-','requested',1005,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'asked for');
INSERT INTO ledger VALUES(14,1700000000105,'kls-aaaaaaaaaf',45,'requested','admitted',1005,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'there is room');
INSERT INTO ledger VALUES(15,1700000000205,'kls-aaaaaaaaaf',45,'admitted','active',1005,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'it runs');
INSERT INTO ledger VALUES(16,1700000000006,'kls-aaaaaaaaag',46,'-','requested',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'asked for');
INSERT INTO ledger VALUES(17,1700000000106,'kls-aaaaaaaaag',46,'requested','admitted',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'there is room');
INSERT INTO ledger VALUES(18,1700000000206,'kls-aaaaaaaaag',46,'admitted','active',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'it runs');
INSERT INTO ledger VALUES(19,1700000000007,'kls-aaaaaaaaah',47,'-','requested',1007,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'asked for');
INSERT INTO ledger VALUES(20,1700000000107,'kls-aaaaaaaaah',47,'requested','admitted',1007,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'there is room');
INSERT INTO ledger VALUES(21,1700000000207,'kls-aaaaaaaaah',47,'admitted','active',1007,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'it runs');
INSERT INTO ledger VALUES(22,1700000000008,'kls-aaaaaaaaai',48,'-','requested',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'asked for');
INSERT INTO ledger VALUES(23,1700000000108,'kls-aaaaaaaaai',48,'requested','admitted',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'there is room');
INSERT INTO ledger VALUES(24,1700000000208,'kls-aaaaaaaaai',48,'admitted','active',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'it runs');
INSERT INTO ledger VALUES(25,1700000000308,'kls-aaaaaaaaai',48,'active','expired',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,12,'no renewal for 5m');
INSERT INTO ledger VALUES(26,1700000000009,'kls-aaaaaaaaaj',49,'-','requested',1009,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'asked for');
INSERT INTO ledger VALUES(27,1700000000109,'kls-aaaaaaaaaj',49,'requested','admitted',1009,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'there is room');
INSERT INTO ledger VALUES(28,1700000000209,'kls-aaaaaaaaaj',49,'admitted','active',1009,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'it runs');
INSERT INTO ledger VALUES(29,1700000000309,'kls-aaaaaaaaaj',49,'active','expired',1009,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,12,'no renewal for 5m');
INSERT INTO ledger VALUES(30,1700000000010,'kls-aaaaaaaaak',50,'-','requested',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'asked for');
INSERT INTO ledger VALUES(31,1700000000110,'kls-aaaaaaaaak',50,'requested','admitted',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'there is room');
INSERT INTO ledger VALUES(32,1700000001011,'kls-aaaaaaaaal',51,'-','requested',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'asked for');
INSERT INTO ledger VALUES(33,1700000001111,'kls-aaaaaaaaal',51,'requested','admitted',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'there is room');
INSERT INTO ledger VALUES(34,1700000001211,'kls-aaaaaaaaal',51,'admitted','active',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'it runs');
INSERT INTO ledger VALUES(35,1700000001311,'kls-aaaaaaaaal',51,'active','expired',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'released');
INSERT INTO ledger VALUES(36,1700000001411,'kls-aaaaaaaaal',51,'expired','reaped',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),250,NULL,'absent');
INSERT INTO ledger VALUES(37,1700000001012,'kls-aaaaaaaaam',52,'-','requested',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'asked for');
INSERT INTO ledger VALUES(38,1700000001112,'kls-aaaaaaaaam',52,'requested','admitted',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'there is room');
INSERT INTO ledger VALUES(39,1700000001212,'kls-aaaaaaaaam',52,'admitted','active',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'it runs');
INSERT INTO ledger VALUES(40,1700000001312,'kls-aaaaaaaaam',52,'active','expired',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,3,'no renewal for 5m');
INSERT INTO ledger VALUES(41,1700000001412,'kls-aaaaaaaaam',52,'expired','reaped',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),250,NULL,'absent');
INSERT INTO ledger VALUES(42,1700000001013,'kls-aaaaaaaaan',53,'-','requested',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'asked for');
INSERT INTO ledger VALUES(43,1700000001113,'kls-aaaaaaaaan',53,'requested','admitted',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'there is room');
INSERT INTO ledger VALUES(44,1700000001213,'kls-aaaaaaaaan',53,'admitted','active',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'it runs');
INSERT INTO ledger VALUES(45,1700000001313,'kls-aaaaaaaaan',53,'active','expired',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'released');
INSERT INTO ledger VALUES(46,1700000001413,'kls-aaaaaaaaan',53,'expired','reaped',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),250,NULL,'absent');
INSERT INTO ledger VALUES(47,1700000001014,'kls-aaaaaaaaao',54,'-','requested',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'asked for');
INSERT INTO ledger VALUES(48,1700000001114,'kls-aaaaaaaaao',54,'requested','denied',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'no such profile: large');
INSERT INTO ledger VALUES(49,1700000000123,'kls-aaaaaaaaau',61,'-','requested',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'so');
INSERT INTO ledger VALUES(50,1700000000123,'kls-aaaaaaaaau',61,'admitted','active',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'so');
INSERT INTO ledger VALUES(51,1700000000123,'kls-aaaaaaaaav',62,'-','requested',1000,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'so');
INSERT INTO ledger VALUES(52,1700000000123,'kls-aaaaaaaaav',62,'admitted','active',1000,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'so');
INSERT INTO ledger VALUES(53,1700000000123,'kls-aaaaaaaaaw',63,'-','requested',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'so');
INSERT INTO ledger VALUES(54,1700000000123,'kls-aaaaaaaaaw',63,'admitted','active',4294967294,'rosa','k-go','process','small','kls-abcdefghij',replace('project=kruze\nnote=x','\n',char(10)),NULL,NULL,'so');
CREATE TABLE meta(
	key TEXT NOT NULL PRIMARY KEY,
	value TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO meta VALUES('checkpoint','mono=123456789012345 boot=123456789099999 wall=1700000002000000000 away=5000 boot_id=01234567-89ab-cdef-0123-456789abcdef');
INSERT INTO meta VALUES('generation','63');
INSERT INTO meta VALUES('hold','1700000100000000000 root');
INSERT INTO meta VALUES('hold_length','98000000000');
CREATE TABLE IF NOT EXISTS "lease"(
	id TEXT NOT NULL PRIMARY KEY,
	lock TEXT NOT NULL,
	rest BLOB,
	user TEXT NOT NULL,
	uid INTEGER NOT NULL,
	state TEXT NOT NULL,
	why TEXT NOT NULL,
	generation INTEGER NOT NULL,
	record TEXT NOT NULL,
	runtime TEXT NOT NULL,
	usage TEXT NOT NULL,
	priority INTEGER NOT NULL,
	max_priority INTEGER NOT NULL,
	cpu_floor_ppm INTEGER NOT NULL,
	ttl_ns INTEGER,
	renew_grace_ns INTEGER,
	hibernate_after_ns INTEGER,
	warn_before_ns INTEGER,
	linger_ns INTEGER,
	min_ttl_ns INTEGER,
	max_ttl_ns INTEGER,
	max_lifetime_ns INTEGER,
	hibernated_retention_ns INTEGER,
	dev INTEGER NOT NULL,
	ino INTEGER NOT NULL,
	mtime_ns INTEGER NOT NULL,
	created_mono_ns INTEGER NOT NULL,
	since_mono_ns INTEGER NOT NULL,
	renewed_mono_ns INTEGER NOT NULL,
	used_mono_ns INTEGER NOT NULL,
	restart_credit_ns INTEGER NOT NULL,
	created_wall_ns INTEGER NOT NULL,
	since_wall_ns INTEGER NOT NULL,
	last_beat_wall_ns INTEGER NOT NULL,
	work_ended_mono_ns INTEGER NOT NULL,
	attempts INTEGER NOT NULL,
	disk INTEGER NOT NULL,
	wanted INTEGER NOT NULL,
	lock_lost INTEGER NOT NULL,
	leader_alive INTEGER NOT NULL,
	warned INTEGER NOT NULL,
	away_ns INTEGER NOT NULL,
	written_mono_ns INTEGER NOT NULL
);
INSERT INTO lease VALUES('kls-aaaaaaaaaa','lock-k-go-rosa-kls-aaaaaaaaaa',NULL,'rosa',4294967294,'requested','in state requested',0,replace('#leasewatch 1\nid=kls-aaaaaaaaaa\nsurface=k-go\nsession=kls-abcdefghij\nruntime=process\nttl=5m\npriority=7\nleader=4711\nleader_start=123456\nboot=01234567-89ab-cdef-0123-456789abcdef\nlabel=project=kruze\nlabel=note=it''s "quoted" = so\n','\n',char(10)),'process','',-5,8,10000,300000000000,90000000000,NULL,1,NULL,2,NULL,3,4,5,0,1700000000000000000,1000,2000,3000,4000,0,1700000000000000000,16,17,0,0,0,0,0,0,1,0,2000);
INSERT INTO lease VALUES('kls-aaaaaaaaab','lock-k-go-rosa-kls-aaaaaaaaab',NULL,'rosa',1001,'starting','in state starting',41,replace('#leasewatch 1\nid=kls-aaaaaaaaab\nsurface=k-go\nsession=kls-abcdefghij\nruntime=process\nttl=5m\npriority=7\nleader=4711\nleader_start=123456\nboot=01234567-89ab-cdef-0123-456789abcdef\nlabel=project=kruze\nlabel=note=it''s "quoted" = so\n','\n',char(10)),'process','explicit',-4,8,10000,301000000000,90000000000,NULL,1,0,2,NULL,3,4,5,-2,1700000000000000001,1001,2001,3001,4001,1,1700000000000000001,16,17,0,1,1,0,0,0,0,7,2001);
INSERT INTO lease VALUES('kls-aaaaaaaaac','lock-k-go-rosa-kls-aaaaaaaaac',NULL,'rosa',4294967294,'active','in state active',42,replace('#leasewatch 1\nid=kls-aaaaaaaaac\nsurface=k-go\nsession=kls-abcdefghij\nruntime=process\nttl=5m\npriority=7\nleader=4711\nleader_start=123456\nboot=01234567-89ab-cdef-0123-456789abcdef\nlabel=project=kruze\nlabel=note=it''s "quoted" = so\n','\n',char(10)),'process','observed',-3,8,10000,NULL,90000000000,NULL,1,NULL,2,NULL,3,4,5,-3,1700000000000000002,1002,2002,3002,4002,2,1700000000000000002,16,17,0,2,0,1,0,0,0,14,2002);
INSERT INTO lease VALUES('kls-aaaaaaaaad','lock-k-go-rosa-kls-aaaaaaaaad',NULL,'rosa',1003,'idle','in state idle',43,replace('#leasewatch 1\nid=kls-aaaaaaaaad\nsurface=k-go\nkind=session\n','\n',char(10)),'session','hybrid',-2,8,10000,303000000000,90000000000,NULL,1,0,2,NULL,3,4,5,3,1700000000000000003,1003,2003,3003,4003,3,1700000000000000003,16,17,0,3,1,1,0,0,0,21,2003);
INSERT INTO lease VALUES('kls-aaaaaaaaae','lock-k-go-rosa-kls-aaaaaaaaae',NULL,'rosa',4294967294,'hibernating','it''s "quoted"; 100% é',44,replace('#leasewatch 1\nid=kls-aaaaaaaaae\nsurface=k-go\nsession=kls-abcdefghij\nruntime=process\nttl=5m\npriority=7\nleader=4711\nleader_start=123456\nboot=01234567-89ab-cdef-0123-456789abcdef\nlabel=project=kruze\nlabel=note=it''s "quoted" = so\n','\n',char(10)),'process','',-1,8,10000,304000000000,90000000000,NULL,1,NULL,2,NULL,3,4,5,-5,1700000000000000004,1004,2004,3004,4004,4,1700000000000000004,16,17,0,4,0,0,1,0,0,28,2004);
INSERT INTO lease VALUES('kls-aaaaaaaaaf','lock-k-go-rosa-kls-aaaaaaaaaf',NULL,'rosa',1005,'hibernated','in state hibernated',45,replace('#leasewatch 1\nid=kls-aaaaaaaaaf\nsurface=k-go\nsession=kls-abcdefghij\nruntime=process\nttl=5m\npriority=7\nleader=4711\nleader_start=123456\nboot=01234567-89ab-cdef-0123-456789abcdef\nlabel=project=kruze\nlabel=note=it''s "quoted" = so\n','\n',char(10)),'process','explicit',0,8,10000,305000000000,90000000000,NULL,1,0,2,NULL,3,4,5,-6,1700000000000000005,1005,2005,3005,4005,5,1700000000000000005,16,17,0,5,1,0,1,0,1,35,2005);
INSERT INTO lease VALUES('kls-aaaaaaaaag','lock-k-go-rosa-kls-aaaaaaaaag',NULL,'rosa',4294967294,'resuming','in state resuming',46,replace('#leasewatch 1\nid=kls-aaaaaaaaag\nsurface=k-go\nsession=kls-abcdefghij\nruntime=process\nttl=5m\npriority=7\nleader=4711\nleader_start=123456\nboot=01234567-89ab-cdef-0123-456789abcdef\nlabel=project=kruze\nlabel=note=it''s "quoted" = so\n','\n',char(10)),'process','observed',1,8,10000,306000000000,90000000000,NULL,1,NULL,2,NULL,3,4,5,6,1700000000000000006,1006,2006,3006,4006,6,1700000000000000006,16,17,0,6,0,1,1,0,0,42,2006);
INSERT INTO lease VALUES('kls-aaaaaaaaah','lock-k-go-rosa-kls-aaaaaaaaah',NULL,'rosa',1007,'lingering','in state lingering',47,replace('#leasewatch 1\nid=kls-aaaaaaaaah\nsurface=k-go\nsession=kls-abcdefghij\nruntime=process\nttl=5m\npriority=7\nleader=4711\nleader_start=123456\nboot=01234567-89ab-cdef-0123-456789abcdef\nlabel=project=kruze\nlabel=note=it''s "quoted" = so\n','\n',char(10)),'process','hybrid',2,8,10000,307000000000,90000000000,NULL,1,0,2,NULL,3,4,5,-8,1700000000000000007,1007,2007,3007,4007,7,1700000000000000007,16,17,0,7,1,1,1,0,0,49,2007);
INSERT INTO lease VALUES('kls-aaaaaaaaai','lock-k-go-rosa-kls-aaaaaaaaai',NULL,'rosa',4294967294,'expired','in state expired',48,replace('#leasewatch 1\nid=kls-aaaaaaaaai\nsurface=k-go\nsession=kls-abcdefghij\nruntime=process\nttl=5m\npriority=7\nleader=4711\nleader_start=123456\nboot=01234567-89ab-cdef-0123-456789abcdef\nlabel=project=kruze\nlabel=note=it''s "quoted" = so\n','\n',char(10)),'process','',3,8,10000,308000000000,90000000000,NULL,1,NULL,2,NULL,3,4,5,-9,1700000000000000008,1008,2008,3008,4008,8,1700000000000000008,16,17,0,8,0,0,0,1,0,56,2008);
INSERT INTO lease VALUES('kls-aaaaaaaaaj','lock-k-go-rosa-kls-aaaaaaaaaj',NULL,'rosa',1009,'reaping','in state reaping',49,replace('#leasewatch 1\nid=kls-aaaaaaaaaj\nsurface=k-go\nsession=kls-abcdefghij\nruntime=process\nttl=5m\npriority=7\nleader=4711\nleader_start=123456\nboot=01234567-89ab-cdef-0123-456789abcdef\nlabel=project=kruze\nlabel=note=it''s "quoted" = so\n','\n',char(10)),'process','explicit',4,8,10000,309000000000,90000000000,NULL,1,0,2,NULL,3,4,5,9,1700000000000000009,1009,2009,3009,4009,9,1700000000000000009,16,17,77,9,1,0,0,1,0,63,2009);
INSERT INTO lease VALUES('kls-aaaaaaaaak','lock-k-go-rosa-kls-aaaaaaaaak',NULL,'rosa',4294967294,'rollback','in state rollback',50,replace('#leasewatch 1\nid=kls-aaaaaaaaak\nsurface=k-go\nsession=kls-abcdefghij\nruntime=process\nttl=5m\npriority=7\nleader=4711\nleader_start=123456\nboot=01234567-89ab-cdef-0123-456789abcdef\nlabel=project=kruze\nlabel=note=it''s "quoted" = so\n','\n',char(10)),'process','observed',5,8,10000,310000000000,90000000000,NULL,1,NULL,2,NULL,3,4,5,-11,1700000000000000010,1010,2010,3010,4010,10,1700000000000000010,16,17,0,10,0,1,0,1,1,70,2010);
INSERT INTO lease VALUES('kls-aaaaaaaaau','lock-k-go-rosa-kls-aaaaaaaaau',X'0500000000000000feffffffffffffff14002a36fe9c9717fc03000000000000e407000000000000cc0b000000000000b40f000000000000140000000000000010000000000000001100000000000000e4070000000000008c0000000000000000b864d94500000000046bf41400000001000000000000000300000000000000feffffff000000000100000000000000','rosa',4294967294,'active','its workload runs',61,replace('#leasewatch 1\nid=kls-aaaaaaaaau\nsurface=k-go\nruntime=box\n','\n',char(10)),'box','explicit',7,8,10000,300000000000,90000000000,NULL,1,0,2,NULL,3,4,5,-2,1700000000000000020,1020,2020,3020,4020,20,15,16,17,0,0,0,0,0,0,0,140,2020);
INSERT INTO lease VALUES('kls-aaaaaaaaav','lock-k-go-rosa-kls-aaaaaaaaav',X'0500000000000000feffffffffffffff15002a36fe9c9717fd03000000000000e507000000000000cd0b000000000000b50f000000000000150000000000000010000000000000001100000000000000e5070000000000008d0000000000000001b864d94500000000046bf41400000001000000000000000300000000000000e8030000000000000200000000000000','rosa',1000,'active','its workload runs',62,replace('#leasewatch 1\nid=kls-aaaaaaaaav\nsurface=k-go\nruntime=box\n','\n',char(10)),'box','observed',7,8,10000,300000000001,90000000000,NULL,1,0,2,NULL,3,4,5,-2,1700000000000000021,1021,2021,3021,4021,21,15,16,17,0,0,0,0,0,0,0,141,2021);
INSERT INTO lease VALUES('kls-aaaaaaaaaw','lock-k-go-rosa-kls-aaaaaaaaaw',X'0500000000000000feffffffffffffff16002a36fe9c9717fe03000000000000e607000000000000ce0b000000000000b60f000000000000160000000000000010000000000000001100000000000000e6070000000000008e0000000000000002b864d94500000000046bf4140000000100000000000000ffffffffffffff7ffeffffff000000000300000000000000','rosa',4294967294,'active','its workload runs',63,replace('#leasewatch 1\nid=kls-aaaaaaaaaw\nsurface=k-go\nruntime=box\n','\n',char(10)),'box','hybrid',7,8,10000,300000000002,90000000000,NULL,1,0,2,NULL,NULL,4,5,-2,1700000000000000022,1022,2022,3022,4022,22,15,16,17,0,0,0,0,0,0,0,142,2022);
CREATE INDEX ledger_id ON ledger(id);
CREATE INDEX ledger_generation ON ledger(generation);
CREATE UNIQUE INDEX ledger_one_end ON ledger(id) WHERE to_state IN ('reaped', 'denied');
CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger BEGIN
	SELECT RAISE(ABORT, 'the ledger is append-only');
END;
CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger BEGIN
	SELECT RAISE(ABORT, 'the ledger is append-only');
END;
CREATE TRIGGER ledger_no_replace BEFORE INSERT ON ledger
WHEN EXISTS (SELECT 1 FROM ledger WHERE seq = NEW.seq) BEGIN
	SELECT RAISE(ABORT, 'the ledger is append-only');
END;
CREATE INDEX lease_awake ON lease(id) WHERE rest IS NULL;
CREATE INDEX lease_generation ON lease(generation);
COMMIT;
